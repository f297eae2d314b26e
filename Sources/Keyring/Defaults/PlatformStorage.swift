// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
internal import KeyringSecretService
internal import KeyringStorage

#if EncryptedFile
internal import KeyringFile
#endif

/// The storage of the platform, for properties and processes that leave the choice to it.
enum PlatformStorage {
  static func storage(forPropertyNamed name: String?) -> StorageBox {
    #if SecretService && os(Linux)
    if let own { return own }
    #endif
    let user = name.map { "The property \"\($0)\"" } ?? "A storage"
    if TestProcess.isCurrent { return StorageBox(inTests(user)) }
    return StorageBox(missing(user))
  }

  /// Whether the platform has a keychain, which only the product KeyringApple uses.
  static var hasKeychain: Bool {
    #if canImport(Darwin)
    true
    #else
    false
    #endif
  }

  /// Returns the storage of a platform without a default one.
  ///
  /// - Parameters:
  ///   - user: The user of the storage, as the beginning of a sentence.
  ///   - hasKeychain: `true` if the platform has a keychain.
  /// - Returns: The storage.
  static func missing(
    _ user: String, hasKeychain: Bool = Self.hasKeychain
  ) -> any SecureStorage {
    hasKeychain
      ? UnavailableStorage(
        message: "\(user) has no storage, because the keychain needs the product KeyringApple.",
        recoverySuggestion: """
          Add KeyringApple to the target, import it, and set \
          SecureStorageDefaults.storage = AppleKeychainStorage() when the program starts.
          """)
      : UnavailableStorage(
        message: "\(user) has no storage, because this build has no default one.",
        recoverySuggestion: "Set SecureStorageDefaults.storage when the program starts.")
  }

  /// Returns the storage in a process that runs tests, which doesn't reach the developer's own keyring.
  ///
  /// - Parameter user: The user of the storage, as the beginning of a sentence.
  /// - Returns: The storage.
  static func inTests(_ user: String) -> any SecureStorage {
    UnavailableStorage(
      message: "\(user) was used in a test process without choosing a storage.",
      recoverySuggestion: """
        Add @Test(.secureStorage(InMemoryStorage())) from KeyringTesting to the test or its suite, \
        or wrap the code in withSecureStorage(InMemoryStorage()) { … }.
        """)
  }

  /// Returns the storages to select from.
  ///
  /// A file takes the place of a keychain only if the program asks for one.
  static func storages(file: any SecureStorage, prefersFile: Bool) -> [any SecureStorage] {
    #if SecretService && os(Linux)
    if !prefersFile { return [SecretServiceStorage(), file] }
    // A program that wants the file must not use the keyring because the file isn't available.
    return file is UnavailableStorage ? [file] : [file, SecretServiceStorage()]
    #else
    let hasOther = hasKeychain && !prefersFile
    return [hasOther ? missing("A storage") : file]
    #endif
  }
}

#if SecretService && os(Linux)
extension PlatformStorage {
  /// The user's keyring, unless a sandbox hides it, or `nil` in a process that runs tests.
  ///
  /// Most sandboxes do that. The app's secrets are then in a file in its own data directory. The selection is
  /// remembered beside the file, so the secrets are never split between the two.
  private static let own: StorageBox? =
    TestProcess.isCurrent
    ? nil : StorageBox(storage(in: .current()) ?? SecretServiceStorage())

  /// Returns the storage in a sandbox, or `nil` without one.
  ///
  /// - Parameters:
  ///   - sandbox: The sandbox.
  ///   - prefersFile: Pass `true` to prefer the file to a keyring.
  /// - Returns: The storage.
  static func storage(
    in sandbox: Sandbox, prefersFile: Bool = false
  ) -> FirstAvailableStorage? {
    guard sandbox != .none else { return nil }
    guard let data = sandbox.dataDirectory else {
      return FirstAvailableStorage(
        [
          UnavailableStorage(
            message: "The sandbox has no directory for the app's data.",
            recoverySuggestion: "Set XDG_DATA_HOME in the sandbox.")
        ], remembering: .nowhere)
    }
    let directory = data + "/swift-keyring"
    return FirstAvailableStorage(
      storages(file: file(in: directory, of: sandbox), prefersFile: prefersFile),
      remembering: .file(at: directory + "/selection"))
  }

  private static func file(in directory: String, of sandbox: Sandbox) -> any SecureStorage {
    #if EncryptedFile
    EncryptedFileStorage(at: directory + "/secrets", key: .secretPortal())
    #else
    UnavailableStorage(
      code: .accessDenied, message: "The sandbox doesn't let the program access a keyring.",
      recoverySuggestion: sandbox.recoverySuggestion ?? "")
    #endif
  }
}
#endif
