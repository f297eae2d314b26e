#if SecretService && os(Linux)
internal import CLibSecret
internal import KeyringStorage
internal import Synchronization

/// Secrets that libsecret reads where they are, and that stay there for as long as it wants them: in
/// a plain session until the message is gone.
///
/// A copy would not be in locked memory, and libsecret 0.20.5 wipes its own only where it could lock
/// them.
enum LentSecret {
  /// By the addresses of their bytes, each as often as it is lent.
  private static let secrets = Mutex<[UInt: [Secret]]>([:])

  /// Lends a secret to libsecret until the value is released.
  static func value(of secret: Secret) -> OpaquePointer? {
    secret.withUnsafeBytes { bytes in
      guard let address = bytes.baseAddress else { return nil }
      secrets.withLock { $0[UInt(bitPattern: address), default: []].append(secret) }
      let characters = UnsafeMutableRawPointer(mutating: address)
        .assumingMemoryBound(to: CChar.self)
      return secret_value_new_full(
        characters, gssize(bytes.count), bytes.isText ? "text/plain" : "application/octet-stream"
      ) { address in
        LentSecret.takeBack(UInt(bitPattern: address))
      }
    }
  }

  private static func takeBack(_ address: UInt) {
    // What is wiped with the last of them is wiped outside the lock.
    let last = secrets.withLock { secrets in
      let secret = secrets[address]?.popLast()
      if secrets[address]?.isEmpty == true { secrets[address] = nil }
      return secret
    }
    _ = last
  }
}

extension UnsafeRawBufferPointer {
  /// Whether keyrings give the bytes back when they are called text.
  ///
  /// KWallet and KeePassXC corrupt what is called text and is not, or has a NUL; KWallet 5.103 also
  /// takes a byte order mark off.
  fileprivate var isText: Bool {
    let characters = baseAddress?.assumingMemoryBound(to: CChar.self)
    return isEmpty
      || g_utf8_validate_len(characters, gsize(count), nil) != 0
        && !starts(with: [0xEF, 0xBB, 0xBF])
  }
}
#endif
