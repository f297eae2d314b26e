// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringSealing

/// The value of `meta`: the random identifier of a namespace, and how often its keys were wrapped.
struct NamespaceDescription: Sendable {
  let id: [UInt8]
  let generation: UInt64

  init(id: [UInt8], generation: UInt64) { (self.id, self.generation) = (id, generation) }

  private var code: [UInt8] = []
  private var content: [UInt8] { [Namespace.formatVersion] + id + generation.bigEndianBytes }

  /// Returns the description with a code that authenticates it.
  func bytes(_ key: SealingKey, _ namespace: Namespace) -> [UInt8] {
    content + key.authenticationCode(for: authenticated(namespace))
  }

  init?(_ bytes: [UInt8]) {
    guard bytes.count == 1 + 16 + 8 + 32, bytes[0] == Namespace.formatVersion else { return nil }
    self.init(id: Array(bytes[1..<17]), generation: UInt64(bigEndianBytes: bytes[17..<25]))
    code = Array(bytes[25...])
  }

  func isAuthentic(_ key: SealingKey, _ namespace: Namespace) -> Bool {
    key.isValid(code, for: authenticated(namespace))
  }

  private func authenticated(_ namespace: Namespace) -> [UInt8] {
    Array("meta\0\(namespace.name)\0".utf8) + content
  }
}
#endif
