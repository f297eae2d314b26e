// SPDX-License-Identifier: Apache-2.0

#if !Sealing
// These declarations give a helpful message to programs that use the module without its trait.

/// Unavailable: swift-keyring was built without the trait EncryptedFile.
@available(
  *, unavailable,
  message: "Turn on swift-keyring's trait in Package.swift: traits: [.defaults, \"EncryptedFile\"]"
)
public struct KeySource {
  /// Creates a source; unavailable without the trait.
  public init(named name: String, _ read: Any) {}

  private init() {}

  /// Creates a source; unavailable without the trait.
  public static func passphrase(_ passphrase: Any) -> KeySource { KeySource() }
  /// Creates a source; unavailable without the trait.
  public static func passphrase(asking ask: Any) -> KeySource { KeySource() }
  /// Creates a source; unavailable without the trait.
  public static func typedPassphrase() -> KeySource { KeySource() }
  /// Creates a source; unavailable without the trait.
  public static func keyFile(at path: String) -> KeySource { KeySource() }
  /// Creates a source; unavailable without the trait.
  public static func systemdCredential(_ name: String) -> KeySource { KeySource() }
  /// Creates a source; unavailable without the trait.
  public static func systemdCredential(
    at path: String, named name: String = "", encryptedWith key: Any = (), for scope: Any = ()
  ) -> KeySource { KeySource() }
  /// Creates a source; unavailable without the trait.
  public static func key(_ key: Any) -> KeySource { KeySource() }
  /// Creates a source; unavailable without the trait.
  public static func command(_ words: [String]) -> KeySource { KeySource() }
  /// Creates a source; unavailable without the trait.
  public static func passphrase(command words: [String]) -> KeySource { KeySource() }
  /// Returns a source; unavailable without the trait.
  public func held(for duration: Duration, in keyring: Any = ()) -> KeySource { self }
  /// Creates a source; unavailable without the trait.
  public static func storage(_ storage: Any, key: Any) -> KeySource { KeySource() }
  /// Creates a source; unavailable without the trait.
  public static func secretPortal(tokenFile: String? = nil) -> KeySource { KeySource() }
}

/// Unavailable: swift-keyring was built without the trait EncryptedFile.
@available(
  *, unavailable,
  message: "Turn on swift-keyring's trait in Package.swift: traits: [.defaults, \"EncryptedFile\"]"
)
public struct KeyRequest {}
#endif
