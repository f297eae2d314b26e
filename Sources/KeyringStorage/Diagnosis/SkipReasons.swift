// SPDX-License-Identifier: Apache-2.0

extension Set<SecureStorageError.Code> {
  /// The reasons for `FirstAvailableStorage` to skip a storage.
  ///
  /// With one of these failures, it's certain that none of the program's secrets are in the storage, and that
  /// none can be stored there. The table in the article ServersAndContainers.md explains each of them. With
  /// any other failure of a diagnosis, no storage is selected.
  package static let skipReasons: Self = [
    .noSessionBus, .noProvider, .noDefaultCollection, .collectionNotFound, .noStorage,
  ]
}

extension StorageDiagnosis {
  /// The failures of a storage that may still have the program's items.
  private static let hindrances: Set<SecureStorageError.Code> = [.locked, .userCanceled, .readOnly]

  /// Whether the storage is available, perhaps after an unlock, or for reading.
  ///
  /// A locked keyring is available, because it has the program's secrets.
  ///
  /// ```swift
  /// offersToRemember = try await storage.diagnose().isAvailable
  /// ```
  ///
  /// To choose between storages, use `FirstAvailableStorage`, which asks this and remembers its choice.
  public var isAvailable: Bool { failure.map { Self.hindrances.contains($0.code) } ?? true }

  /// Whether it's certain that the storage has none of the program's secrets, and can't have any.
  package var canBeSkipped: Bool {
    failure.map { Set.skipReasons.contains($0.code) && !$0.mayHaveItems } ?? false
  }
}
