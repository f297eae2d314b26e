// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
public import KeyringSealing
internal import KeyringSecretService
internal import KeyringStorage

#if EncryptedFile
internal import KeyringFile
#endif

extension FirstAvailableStorage {
  #if EncryptedFile
  /// Creates the storage for programs that run with and without a desktop.
  ///
  /// It's the user's keyring, or else an encrypted file in `~/.local/share/swift-keyring`. In a Flatpak or
  /// a snap without access to the keyring, it's a file with a key from the desktop.
  ///
  /// ```swift
  /// SecureStorageDefaults.storage = FirstAvailableStorage.automatic()
  /// ```
  ///
  /// - Parameters:
  ///   - prefersFile: Pass `true` to prefer the file to a keyring. A program that has stored secrets in the keyring
  ///     with this storage stays there.
  ///   - key: The source of the file's key. By default, it's a passphrase that the user types. A program that no user
  ///     runs needs another source. A sandbox has its own key.
  ///   - name: The name of the program. The names of its files begin with it. The default is the name of the
  ///     executable. In a sandbox, all programs of an app share a file.
  /// - Returns: The storage. Create one and share it. In a process that runs tests, it refuses every
  ///   operation.
  public static func automatic(
    prefersFile: Bool = false, key: KeySource = .typedPassphrase(), named name: String? = nil
  ) -> FirstAvailableStorage {
    automatic(prefersFile, name) { EncryptedFileStorage(at: $0, key: key) }
  }
  #else
  /// Creates the storage for programs that run with and without a desktop.
  ///
  /// On a desktop, it's the user's keyring. Elsewhere, it refuses every operation, because an encrypted file
  /// needs the trait `EncryptedFile`.
  ///
  /// - Parameters:
  ///   - prefersFile: Pass `true` to prefer the file to a keyring. A program that has stored secrets in the keyring
  ///     with this storage stays there.
  ///   - name: The name of the program. The default is the name of the executable.
  /// - Returns: The storage. Create one and share it. In a process that runs tests, it refuses every
  ///   operation.
  public static func automatic(
    prefersFile: Bool = false, named name: String? = nil
  ) -> FirstAvailableStorage {
    automatic(prefersFile, name) { _ in
      UnavailableStorage(
        message: "A file for secrets needs swift-keyring's trait EncryptedFile.",
        recoverySuggestion: "Turn it on in Package.swift: traits: [.defaults, \"EncryptedFile\"]")
    }
  }

  /// Unavailable: swift-keyring was built without the trait EncryptedFile.
  @available(
    *, unavailable,
    message:
      "Turn on swift-keyring's trait in Package.swift: traits: [.defaults, \"EncryptedFile\"]"
  )
  public static func automatic(
    prefersFile: Bool = false, key: KeySource, named name: String? = nil
  ) -> FirstAvailableStorage { automatic(prefersFile: prefersFile, named: name) }
  #endif

  private static func automatic(
    _ prefersFile: Bool, _ name: String?, file: (String) -> any SecureStorage
  ) -> FirstAvailableStorage {
    if TestProcess.isCurrent {
      return FirstAvailableStorage([PlatformStorage.inTests("A storage")], remembering: .nowhere)
    }
    #if SecretService && os(Linux)
    let own = PlatformStorage.storage(in: .current(), prefersFile: prefersFile)
    if let own { return own }
    #endif
    let name = name ?? Executable.name
    let path = UserDirectory.data.path(of: name, suffix: "secrets")
    let selection = UserDirectory.data.path(of: name, suffix: "selection")
    return FirstAvailableStorage(
      PlatformStorage.storages(file: path.map(file) ?? withoutDirectory, prefersFile: prefersFile),
      remembering: selection.map(SelectionMemory.file) ?? .nowhere)
  }

  private static var withoutDirectory: any SecureStorage {
    UnavailableStorage(
      message:
        "The user has no directory for a file, because there is neither XDG_DATA_HOME nor a home.",
      recoverySuggestion: "Set XDG_DATA_HOME, or use an EncryptedFileStorage with a path.")
  }
}
