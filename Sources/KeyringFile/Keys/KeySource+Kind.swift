#if EncryptedFile
extension KeySource {
  /// What kind of source a key comes from, as a header tells it.
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

    /// With its article, for sentences.
    var description: String { "a \(noun)" }
  }
}
#endif
