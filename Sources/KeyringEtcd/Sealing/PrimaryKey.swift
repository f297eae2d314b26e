// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringSealing

/// The value of `primary`: the data key for new items, and the older ones that items may still need.
struct PrimaryKey: Sendable {
  let id: UInt32
  /// The number of changes of this value.
  let generation: UInt64
  /// The identifiers of the older data keys, which are accepted besides this one.
  let older: [UInt32]

  init(id: UInt32, generation: UInt64, older: [UInt32] = []) {
    (self.id, self.generation, self.older) = (id, generation, older)
  }

  /// Returns `true` for a data key that may decrypt items.
  func accepts(_ id: UInt32) -> Bool { id == self.id || older.contains(id) }

  private var code: [UInt8] = []
  private var content: [UInt8] {
    [Namespace.formatVersion] + id.bigEndianBytes + generation.bigEndianBytes
      + older.flatMap(\.bigEndianBytes)
  }

  /// Returns the identifier with a code that authenticates it.
  func bytes(_ key: SealingKey, _ namespace: Namespace, _ id: [UInt8]) -> [UInt8] {
    content + key.authenticationCode(for: authenticated(namespace, id))
  }

  init?(_ bytes: [UInt8]) {
    let end = bytes.count - 32
    guard end >= 13, (end - 13).isMultiple(of: 4), bytes[0] == Namespace.formatVersion else {
      return nil
    }
    self.init(
      id: UInt32(bigEndianBytes: bytes[1..<5]), generation: UInt64(bigEndianBytes: bytes[5..<13]),
      older: stride(from: 13, to: end, by: 4).map { UInt32(bigEndianBytes: bytes[$0..<$0 + 4]) })
    code = Array(bytes[end...])
  }

  func isAuthentic(_ key: SealingKey, _ namespace: Namespace, _ id: [UInt8]) -> Bool {
    key.isValid(code, for: authenticated(namespace, id))
  }

  private func authenticated(_ namespace: Namespace, _ id: [UInt8]) -> [UInt8] {
    Array("primary\0\(namespace.name)\0".utf8) + id + content
  }
}
#endif
