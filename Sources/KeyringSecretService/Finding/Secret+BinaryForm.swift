// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)

// A collection without a password may be a text file, which changes some secrets or is destroyed by them. No
// such file changes bytes that aren't UTF-8. Text that it would change is therefore stored as some bytes
// that aren't UTF-8, followed by the text. Everything else is stored as it is, so that other programs can
// read it. Readers go by these bytes alone, so they need no message for the attribute, and they read what
// another program puts in the place of the secret.

extension Secret {
  /// The bytes at the start of the binary form, of which the first never occurs in UTF-8.
  private static let binaryMark: [UInt8] = [0xFF] + Array("swift-keyring".utf8) + [0]

  /// `true` for a secret in its binary form, or one that looks the same.
  ///
  /// An empty secret has no binary form.
  var isInBinaryForm: Bool {
    count > Self.binaryMark.count && withUnsafeBytes { $0.starts(with: Self.binaryMark) }
  }

  /// The secret in its binary form.
  var binaryForm: Secret {
    let mark = Self.binaryMark
    return withUnsafeBytes { bytes in
      Secret(capacity: mark.count + bytes.count) { room in
        room.copyBytes(from: mark)
        UnsafeMutableRawBufferPointer(rebasing: room[mark.count...]).copyMemory(from: bytes)
        return room.count
      }
    }
  }

  /// The secret without the mark of its binary form, if it has one.
  var withoutBinaryForm: Secret {
    isInBinaryForm ? self[Self.binaryMark.count..<count] : self
  }
}
#endif
