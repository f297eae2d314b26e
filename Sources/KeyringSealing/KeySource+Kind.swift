// SPDX-License-Identifier: Apache-2.0

#if Sealing
extension KeySource {
  /// The kind of a source, as stored with a wrapped key.
  package enum Kind: UInt8, Sendable {
    case passphrase = 1
    case keyFile = 2
    case systemdCredential = 3
    case storage = 4
    case other = 5

    /// The name of the kind, for use in sentences.
    var noun: String {
      switch self {
      case .passphrase: "passphrase"
      case .keyFile: "key file"
      case .systemdCredential: "systemd credential"
      case .storage: "key in a storage"
      case .other: "key"
      }
    }
  }

  /// Indicates whether two processes may create different keys at the same time, of which one is lost.
  ///
  /// Such a key is created under the lock that keeps other processes away until it's in use.
  package var mayLoseNewKey: Bool { kind == .storage }
}
#endif
