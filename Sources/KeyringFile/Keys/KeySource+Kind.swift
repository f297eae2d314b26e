#if EncryptedFile
extension KeySource {
  /// The kind of source that a key comes from, as stored in a header.
  enum Kind: UInt8, Sendable, CustomStringConvertible {
    case passphrase = 1
    case keyFile = 2
    case systemdCredential = 3
    case storage = 4

    var noun: String {
      switch self {
      case .passphrase: "passphrase"
      case .keyFile: "key file"
      case .systemdCredential: "systemd credential"
      case .storage: "key in a storage"
      }
    }

    /// The noun with its article, for use in sentences.
    var description: String { "a \(noun)" }
  }
}
#endif
