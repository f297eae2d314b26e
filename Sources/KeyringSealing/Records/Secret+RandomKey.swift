// SPDX-License-Identifier: Apache-2.0

#if Sealing
package import KeyringStorage

extension Secret {
  /// Returns a key of 256 random bits.
  package static func randomKey() -> Secret {
    Secret(capacity: 32) { room in
      for index in room.indices { room[index] = .random(in: 0...255) }
      return room.count
    }
  }
}
#endif
