#if SecretService && os(Linux)
import Foundation
import Keyring
import Testing

/// The same random operations on a storage in memory and on the keyring: both must always agree.
///
/// A run is repeated with `KEYRING_TEST_SEED`, and is longer with `KEYRING_TEST_STEPS`.
@Suite(
  .inPrivateSession,
  .only(on: .gnomeKeyring, "locks and unlocks a collection as only gnome-keyring's own tools can"))
struct ModelTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed =
    environment["KEYRING_TEST_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)
  private static let steps = environment["KEYRING_TEST_STEPS"].flatMap { Int($0) } ?? 2000

  @Test func keyringAgreesWithMemory() throws {
    print("The seed of the model test is \(Self.seed).")
    let collection = try PasswordCollection()
    let outcome = Result { try run(collection) }
    try collection.delete()
    try outcome.get()
  }

  private func run(_ collection: PasswordCollection) throws {
    let memory = InMemoryStorage()
    let keyring = SecretServiceStorage(
      collection: .named(collection.label), interaction: .never)
    var operations = ModelOperations(seed: Self.seed)
    var relocking = SeededGenerator(seed: Self.seed)
    for step in 1...Self.steps {
      let operation = try operations.next(memory.items(matching: ItemQuery(details: .all)))
      let place = "seed \(Self.seed), step \(step): \(operation)"
      try expectAgreement(on: operation, place, memory, keyring)
      if relocking.oneIn(20) {
        // What it has then is what it has read from its file.
        try keyring.lock()
        try collection.unlock()
      }
      let everything = ModelOperation.find(ItemQuery(details: .all))
      try expectAgreement(on: everything, "after \(place)", memory, keyring)
    }
  }

  private func expectAgreement(
    on operation: ModelOperation, _ place: String, _ memory: InMemoryStorage,
    _ keyring: SecretServiceStorage
  ) throws {
    let expected = ModelOutcome(of: operation, on: memory)
    let actual = ModelOutcome(of: operation, on: keyring)
    try #require(
      expected == actual,
      """
      \(place)
      only in memory: \(expected.items(notIn: actual))
      only in the keyring: \(actual.items(notIn: expected))
      """)
  }
}
#endif
