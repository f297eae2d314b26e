import Foundation
package import KeyringStorage

/// The same random operations on a storage in memory and on another: both must always agree.
///
/// A run is repeated with `KEYRING_TEST_SEED`, and is longer with `KEYRING_TEST_STEPS`.
package struct ModelRun {
  /// What the storages do not agree on.
  package struct Disagreement: Error, CustomStringConvertible {
    package let description: String
  }

  private let seed = SeededGenerator.seed
  private let memory = InMemoryStorage()
  private var operations: ModelOperations
  private var random: SeededGenerator

  package init() {
    operations = ModelOperations(seed: seed)
    random = SeededGenerator(seed: seed)
  }

  /// Does all operations, and looks at everything stored after each.
  ///
  /// - Parameter storage: Answers what to use next, before each use: a storage that was closed and
  ///   opened again meanwhile, for example, or another of what is stored in the same place.
  /// - Throws: A ``Disagreement``, and what `storage` throws.
  package mutating func expectAgreement<Storage: SecureStorage>(
    with storage: (inout SeededGenerator) throws -> Storage
  ) throws {
    print("The seed of the model test is \(seed).")
    let steps = ProcessInfo.processInfo.environment["KEYRING_TEST_STEPS"].flatMap { Int($0) }
    for step in 1...(steps ?? 2000) {
      let operation = try operations.next(memory.items(matching: ItemQuery(details: .all)))
      let place = "seed \(seed), step \(step): \(operation)"
      try expectAgreement(on: operation, place, storage(&random))
      let everything = ModelOperation.find(ItemQuery(details: .all))
      try expectAgreement(on: everything, "after \(place)", storage(&random))
    }
  }

  private func expectAgreement(
    on operation: ModelOperation, _ place: String, _ storage: some SecureStorage
  ) throws {
    let expected = ModelOutcome(of: operation, on: memory)
    let actual = ModelOutcome(of: operation, on: storage)
    if expected == actual { return }
    throw Disagreement(
      description: """
        \(place)
        memory: \(expected), only there: \(expected.items(notIn: actual))
        \(storage.backendName): \(actual), only there: \(actual.items(notIn: expected))
        """)
  }
}
