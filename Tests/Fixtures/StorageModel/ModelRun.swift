// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
package import KeyringStorage

/// The same random operations on a storage in memory and on another, which must always agree.
///
/// `KEYRING_TEST_SEED` repeats a run, and `KEYRING_TEST_STEPS` makes it longer.
package struct ModelRun {
  /// A result on which the storages don't agree.
  package struct Disagreement: Error, CustomStringConvertible {
    package let description: String
  }

  /// The number of operations: 400, or the number that `Scripts/stress` sets.
  package static let steps =
    ProcessInfo.processInfo.environment["KEYRING_TEST_STEPS"].flatMap(Int.init) ?? 400

  private let seed = SeededGenerator.seed
  private let memory = InMemoryStorage()
  private var operations: ModelOperations
  private var random: SeededGenerator

  package init() {
    operations = ModelOperations(seed: seed)
    random = SeededGenerator(seed: seed)
  }

  /// Performs all operations, and looks at all stored items after each one.
  ///
  /// - Parameter storage: The closure that returns the storage before each use. It may return one
  ///   that was closed and opened again, for example, or another storage in the same place.
  /// - Throws: A ``Disagreement``, or the error that `storage` throws.
  package mutating func expectAgreement<Storage: SecureStorage>(
    with storage: (inout SeededGenerator) throws -> Storage
  ) throws {
    print("The seed of the model test is \(seed).")
    for step in 1...Self.steps {
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
