// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringSealing
internal import KeyringStorage

/// The keys of a namespace as they are in etcd, which only the key of the source opens.
struct StoredKeys {
  let namespace: Namespace
  let description: NamespaceDescription
  let primary: PrimaryKey
  let root: WrappedKey
  /// The conditions that ``description`` and ``primary`` are still the same.
  let conditions: [Transaction.Comparison]
  private let values: [EtcdKey: KeyValue]

  /// Reads the format of the keys.
  ///
  /// - Parameters:
  ///   - values: All values of the namespace that belong to keys.
  ///   - namespace: The namespace.
  ///   - isKnown: `true` for a namespace that has had keys before.
  ///   - request: The request for the key, which errors describe.
  /// - Throws: `.noStorage` for a missing namespace, or `.damaged`.
  init(
    _ values: [KeyValue], of namespace: Namespace, isKnown: Bool, _ request: KeyRequest
  ) throws(SecureStorageError) {
    let values = Dictionary(values.map { ($0.key, $0) }) { $1 }
    if values.isEmpty {
      if isKnown {
        throw request.error(
          .damaged, "The \(request.subject) has been removed from the cluster.",
          recoverySuggestion: "Restore the cluster from a backup.")
      }
      throw request.error(
        .noStorage, "The cluster has no \(request.subject).",
        recoverySuggestion: "Check the name. Create a new namespace with createNamespace(), once.")
    }
    guard let meta = values[namespace.meta], let main = values[namespace.primary],
      let rootValue = values[namespace.rootKey]
    else { throw request.damaged("its keys are incomplete") }
    guard rootValue.value.first == Namespace.formatVersion,
      let root = WrappedKey(rootValue.value.dropFirst())
    else { throw request.damaged("its root key isn't in the expected format") }
    guard let description = NamespaceDescription(meta.value), let primary = PrimaryKey(main.value)
    else { throw Self.foreign(request) }
    (self.namespace, self.values) = (namespace, values)
    (self.description, self.primary, self.root) = (description, primary, root)
    conditions = [meta, main].map { .init($0.key, value: $0.value) }
  }

  /// The revisions of everything that the keys were read from.
  var revisions: [EtcdKey: Int64] { values.mapValues(\.revision) }

  /// Returns the wrapped data keys by their identifiers.
  func dataKeys(_ request: KeyRequest) throws(SecureStorageError) -> [UInt32: ArraySlice<UInt8>] {
    var boxes: [UInt32: ArraySlice<UInt8>] = [:]
    for (key, value) in values
    where key.path.hasPrefix(namespace.keys.path) && key != namespace.rootKey {
      let name = key.path.dropFirst(namespace.keys.path.count)
      guard let id = UInt32(name, radix: 16), namespace.dataKey(id) == key,
        value.value.first == Namespace.formatVersion
      else { throw request.damaged("it has a key in an unknown format") }
      boxes[id] = value.value.dropFirst()
    }
    return boxes
  }

  /// Returns the error for keys that another program wrote.
  static func foreign(_ request: KeyRequest) -> SecureStorageError {
    request.damaged("its keys weren't written by this package")
  }
}

extension Namespace {
  /// The data that a wrapped key authenticates, which binds it to its place.
  func binding(_ name: String, _ id: [UInt8]) -> [UInt8] {
    id + Array("\(self.name)\0\(name)".utf8)
  }
}

extension KeyRequest {
  func damaged(_ how: String) -> SecureStorageError {
    error(.damaged, "The \(subject) is damaged: \(how).")
  }
}
#endif
