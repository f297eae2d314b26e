// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A key with its value.
struct KeyValue: Sendable {
  let key: EtcdKey
  let value: [UInt8]
  /// The revision in which the key was last changed.
  let revision: Int64
  /// The revision in which the key was created.
  private(set) var creation: Int64 = 0
}

extension KeyValue: JSONReadable {
  init(_ reader: inout JSONReader) throws(JSONReader.Malformed) {
    var (key, value, revision): (EtcdKey?, [UInt8], Int64?) = (nil, [], nil)
    var creation: Int64 = 0
    try reader.object { (name, reader) throws(JSONReader.Malformed) in
      switch name {
      case "key": key = try EtcdKey(&reader)
      case "value": value = try reader.data()
      case "mod_revision": revision = try reader.integer()
      case "create_revision": creation = try reader.integer()
      default: break
      }
    }
    guard let key, let revision else { throw JSONReader.Malformed() }
    (self.key, self.value, self.revision) = (key, value, revision)
    self.creation = creation
  }
}
#endif
