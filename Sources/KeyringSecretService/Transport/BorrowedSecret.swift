// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CKeyringLibSecret
internal import Synchronization

/// Secrets that libsecret reads in place.
///
/// A secret stays in memory until libsecret releases it. In a plain session, that's when the message is
/// gone. A copy wouldn't be in locked memory, and libsecret 0.20.5 overwrites its own copies only if it
/// could lock their memory.
enum BorrowedSecret {
  /// The lent secrets, by the addresses of their bytes.
  ///
  /// A secret appears once for each time that it's lent.
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
        BorrowedSecret.takeBack(UInt(bitPattern: address))
      }
    }
  }

  private static func takeBack(_ address: UInt) {
    // Releasing the last reference to a secret overwrites its memory. Release it outside the lock.
    let last = secrets.withLock { secrets in
      let secret = secrets[address]?.popLast()
      if secrets[address]?.isEmpty == true { secrets[address] = nil }
      return secret
    }
    _ = last
  }
}

extension UnsafeRawBufferPointer {
  /// `true` for bytes that keyrings return unchanged as text.
  ///
  /// Some keyrings corrupt bytes that are declared as text, and are something else or contain a NUL. Some also
  /// remove a byte order mark.
  fileprivate var isText: Bool {
    let characters = baseAddress?.assumingMemoryBound(to: CChar.self)
    return isEmpty
      || g_utf8_validate_len(characters, gsize(count), nil) != 0
        && !starts(with: [0xEF, 0xBB, 0xBF])
  }
}
#endif
