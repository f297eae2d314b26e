// SPDX-License-Identifier: Apache-2.0

package import Keyring

extension UnsafeMutableRawBufferPointer {
  /// Overwrites the bytes, also if nothing reads them again.
  package func wipe() {
    if let baseAddress { explicit_bzero(baseAddress, count) }
  }
}

extension Secret {
  /// Creates a secret from the bytes of others, and leaves no copy of them in memory.
  package init(joining parts: [Secret]) {
    let count = parts.reduce(0) { $0 + $1.count }
    self = withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { room in
      defer { room.wipe() }
      var rest = room[...]
      for part in parts {
        part.withUnsafeBytes {
          UnsafeMutableRawBufferPointer(rebasing: rest).copyMemory(from: $0)
        }
        rest = rest.dropFirst(part.count)
      }
      return Secret(copying: UnsafeRawBufferPointer(room))
    }
  }
}
