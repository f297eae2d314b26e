// SPDX-License-Identifier: Apache-2.0

/// A reason for `FirstAvailableStorage` to skip a storage.
///
/// It's certain that none of the program's secrets are in the storage, and that none can be stored there.
///
/// This is the only list of such reasons. The article MachinesWithoutADesktop.md shows it, and a test
/// checks that. With any other failure of a diagnosis, no storage is selected.
package struct SkipReason: Sendable {
  /// The code of the storage's failure.
  package let code: SecureStorageError.Code
  /// The explanation of why the storage can't have secrets, as a sentence.
  package let reason: String

  /// All reasons.
  package static let all = [
    SkipReason(
      code: .noSessionBus,
      reason: "The address leads to no bus, or to another user's bus."),
    SkipReason(
      code: .noProvider,
      reason: "No program on the bus stores secrets, and the bus can't start one."),
    SkipReason(
      code: .noDefaultCollection,
      reason: "The keyring has no default collection, and can't ask the user to create one."),
    SkipReason(
      code: .collectionNotFound,
      reason: "The keyring doesn't have the storage's collection."),
    SkipReason(
      code: .noStorage,
      reason: """
        The file can't be created, the program was given no secrets, or a sandbox denies access to \
        the keyring.
        """),
  ]

  /// The row of the article's table for this reason.
  package var line: String { "| `.\(code)` | \(reason) |" }
}

extension StorageDiagnosis {
  /// The failures of a storage that still has the program's items, if it has any.
  private static let hindrances: Set<SecureStorageError.Code> = [.locked, .userCanceled, .readOnly]

  /// Indicates whether the storage is available, perhaps only after unlocking it, or only for reading.
  package var isThere: Bool { failure.map { Self.hindrances.contains($0.code) } ?? true }

  /// Indicates whether it's certain that the storage has none of the program's secrets, and can't have any.
  package var isUnavailable: Bool {
    guard let code = failure?.code else { return false }
    return SkipReason.all.contains { $0.code == code }
  }
}
