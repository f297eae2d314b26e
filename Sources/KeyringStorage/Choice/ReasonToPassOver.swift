/// Why ``FirstAvailable`` passes over a storage: it is certain that none of the program's secrets are in
/// it, and that none can be put there.
///
/// This is the one list of what may be passed over. The article MachinesWithoutADesktop.md shows it,
/// and a test sees to it. Whatever else a diagnosis fails with chooses nothing.
package struct ReasonToPassOver: Sendable {
  /// What the storage fails with.
  package let code: SecureStorageError.Code
  /// Why it can have no secrets then, in a sentence.
  package let reason: String

  /// All of them.
  package static let all = [
    ReasonToPassOver(
      code: .noSessionBus,
      reason: "The address leads to no bus, or to another user's: no keyring can be reached."),
    ReasonToPassOver(
      code: .noProvider,
      reason: "Nobody on the bus keeps secrets, and the bus knows no program that it could start."),
    ReasonToPassOver(
      code: .noDefaultCollection,
      reason: "The keyring has nothing to keep items in, and nobody can be asked to make it."),
    ReasonToPassOver(
      code: .collectionNotFound,
      reason: "The keyring has no collection of the kind or name that the storage is for."),
    ReasonToPassOver(
      code: .noStorage,
      reason: """
        There is no file and none can be made, the program was given nothing, or a sandbox keeps it \
        from the keyring.
        """),
  ]

  /// The line of the article that tells of it.
  package var line: String { "| `.\(code)` | \(reason) |" }
}

extension StorageDiagnosis {
  /// The failures of a storage that has what the program has stored there, if it has stored anything.
  private static let hindrances: Set<SecureStorageError.Code> = [.locked, .userCanceled, .readOnly]

  /// Whether the storage could be used, perhaps after somebody has unlocked it, or only to read.
  var isThere: Bool { failure.map { Self.hindrances.contains($0.code) } ?? true }

  /// Whether it is certain that the storage has none of the program's secrets, and can have none.
  package var isUnavailable: Bool {
    guard let code = failure?.code else { return false }
    return ReasonToPassOver.all.contains { $0.code == code }
  }
}
