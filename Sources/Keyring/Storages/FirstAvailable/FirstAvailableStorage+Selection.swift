// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

extension FirstAvailableStorage {
  /// The selected storage, and the reasons for not selecting those before it.
  ///
  /// ```swift
  /// let selection = try storage.selection()
  /// print(selection)  // EncryptedFileStorage, as SecretServiceStorage has noSessionBus
  /// ```
  public struct Selection: Sendable, CustomStringConvertible {
    /// The selected storage.
    public let storage: any SecureStorage
    /// The position of the storage in the list, counted from 0.
    public let index: Int
    /// The diagnoses of the unavailable storages before it, each of which has a failure.
    package let skipped: [StorageDiagnosis]
    /// The diagnoses of the available storages before it.
    ///
    /// They stay unused, as another storage is remembered.
    public internal(set) var appeared: [StorageDiagnosis] = []
    /// The name of the storage that an earlier run chose, or `nil`.
    package let remembered: String?
    /// The name under which the storage is remembered.
    let name: String
    /// Whether the user wants this storage regardless of the others.
    var isForGood = false

    /// The name of the storage and the reasons for selecting it, in one line.
    public var description: String {
      let own = storage.backendName
      if let remembered {
        guard remembered == name else { return "\(own), though \(remembered) is remembered" }
        let others = appeared.map(\.storage).joined(separator: " and ")
        return "\(own), as remembered" + (others.isEmpty ? "" : ", though \(others) could be used")
      }
      let reasons = skipped.compactMap { diagnosis in
        diagnosis.failure.map { "\(diagnosis.storage) has \($0.code)" }
      }
      return reasons.isEmpty ? own : "\(own), as \(reasons.joined(separator: " and "))"
    }
  }
}
