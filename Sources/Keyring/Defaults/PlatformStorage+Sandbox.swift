// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringFile
internal import KeyringSecretService
internal import KeyringStorage

extension PlatformStorage {
  /// The storage in a sandbox, or `nil` without one.
  ///
  /// Most sandboxes hide the user's keyring. The app's secrets are then in a file in its own data folder. The
  /// selection is remembered beside the file, so the secrets are never split between the two.
  static let ofSandbox = storage(in: .current(), prefer: .keyring)

  /// Returns the storage in a sandbox, or `nil` without one.
  ///
  /// - Parameters:
  ///   - sandbox: The sandbox.
  ///   - preference: The storage to use if both are available.
  /// - Returns: The storage.
  static func storage(
    in sandbox: Sandbox, prefer preference: FirstAvailableStorage.Preference
  ) -> FirstAvailableStorage? {
    guard sandbox != .none else { return nil }
    guard let data = sandbox.dataFolder else {
      return FirstAvailableStorage(
        [
          UnavailableStorage(
            message: "The sandbox has no folder for the app's data.",
            recoverySuggestion: "Set XDG_DATA_HOME in the sandbox.")
        ], remembering: .nowhere)
    }
    let folder = data + "/swift-keyring"
    return FirstAvailableStorage(
      preference.storages(file: file(in: folder, of: sandbox)),
      remembering: .file(at: folder + "/selection"))
  }

  private static func file(in folder: String, of sandbox: Sandbox) -> any SecureStorage {
    #if EncryptedFile
    EncryptedFileStorage(at: folder + "/secrets", key: .secretPortal())
    #else
    UnavailableStorage(
      code: .accessDenied, message: "The sandbox doesn't let the program access a keyring.",
      recoverySuggestion: sandbox.recoverySuggestion ?? "")
    #endif
  }
}
#endif
