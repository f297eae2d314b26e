// SPDX-License-Identifier: Apache-2.0

#if !Sealing
public import KeyringStorage

// These declarations give a helpful message to programs that use the module without its trait. They have the types of
// the real ones, so that the compiler says nothing else.

/// Unavailable: this build of swift-keyring lacks the trait EncryptedFile.
@available(
  *, unavailable,
  message: "Turn on swift-keyring's trait in Package.swift: traits: [.defaults, \"EncryptedFile\"]"
)
public struct KeySource: Sendable {
  /// A closure that returns a key; needs the trait EncryptedFile.
  public typealias Reading = @Sendable (KeyRequest) async throws(SecureStorageError) -> Secret
  /// The location of a credential's key; needs the trait EncryptedFile.
  public enum SystemdCredentialKey: Sendable { case automatic, tpm, host }
  /// The credentials of systemd-creds; needs the trait EncryptedFile.
  public enum SystemdCredentialScope: Sendable { case system, user }

  /// Creates a source; needs the trait EncryptedFile.
  public init(named name: String, _ read: @escaping Reading) {}

  private init() {}

  /// Creates a source; needs the trait EncryptedFile.
  public static func passphrase(_ passphrase: Secret) -> KeySource { KeySource() }
  /// Creates a source; needs the trait EncryptedFile.
  public static func passphrase(asking ask: @escaping Reading) -> KeySource { KeySource() }
  /// Creates a source; needs the trait EncryptedFile.
  public static func typedPassphrase() -> KeySource { KeySource() }
  /// Creates a source; needs the trait EncryptedFile.
  public static func keyFile(at path: String) -> KeySource { KeySource() }
  /// Creates a source; needs the trait EncryptedFile.
  public static func systemdCredential(_ name: String) -> KeySource { KeySource() }
  /// Creates a source; needs the trait EncryptedFile.
  public static func systemdCredential(
    at path: String, named name: String = "", encryptedWith key: SystemdCredentialKey = .automatic,
    for scope: SystemdCredentialScope = .system
  ) -> KeySource { KeySource() }
  /// Creates a source; needs the trait EncryptedFile.
  public static func key(_ key: Secret) -> KeySource { KeySource() }
  /// Creates a source; needs the trait EncryptedFile.
  public static func command(_ words: [String]) -> KeySource { KeySource() }
  /// Creates a source; needs the trait EncryptedFile.
  public static func passphrase(command words: [String]) -> KeySource { KeySource() }
  /// Returns a source; needs the trait EncryptedFile.
  public func held(for duration: Duration, in keyring: KernelKeyring = .session) -> KeySource {
    self
  }
  /// Creates a source; needs the trait EncryptedFile.
  public static func storage(_ storage: any SecureStorage, key: ItemKey) -> KeySource {
    KeySource()
  }
  /// Creates a source; needs the trait EncryptedFile.
  public static func secretPortal(tokenFile: String? = nil) -> KeySource { KeySource() }
}

/// Unavailable: this build of swift-keyring lacks the trait EncryptedFile.
@available(
  *, unavailable,
  message: "Turn on swift-keyring's trait in Package.swift: traits: [.defaults, \"EncryptedFile\"]"
)
public enum KernelKeyring: Sendable { case session, persistent }
#endif
