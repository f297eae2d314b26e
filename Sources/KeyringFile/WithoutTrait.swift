#if !EncryptedFile
// What a program is told that uses the module without its trait.

/// Not there: swift-keyring was built without the trait EncryptedFile.
@available(
  *, unavailable,
  message: "Turn on swift-keyring's trait in Package.swift: traits: [.defaults, \"EncryptedFile\"]"
)
public struct EncryptedFileStorage {
  /// Not there.
  public init(at path: String, key: KeySource) {}
}

/// Not there: swift-keyring was built without the trait EncryptedFile.
@available(
  *, unavailable,
  message: "Turn on swift-keyring's trait in Package.swift: traits: [.defaults, \"EncryptedFile\"]"
)
public struct KeySource {
  /// Not there.
  public static func passphrase(_ passphrase: Any) -> KeySource { KeySource() }
  /// Not there.
  public static func keyFile(at path: String) -> KeySource { KeySource() }
  /// Not there.
  public static func systemdCredential(_ name: String) -> KeySource { KeySource() }
}
#endif
