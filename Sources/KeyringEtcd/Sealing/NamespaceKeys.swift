// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringSealing
internal import KeyringStorage

/// The keys of a namespace, as they were in etcd at one moment.
///
/// A random root key derives the key of the names and the key that authenticates `meta` and `primary`. Items
/// are encrypted with data keys, which are independent of the root key. The key of the source wraps the root
/// key and the data keys.
struct NamespaceKeys: Sendable {
  let namespace: Namespace
  let description: NamespaceDescription
  let primary: PrimaryKey
  /// The values of `meta` and `primary`.
  ///
  /// Every request has the condition that they're still the same. In a cluster that was restored from a backup,
  /// other values can have the same revisions.
  let conditions: [Transaction.Comparison]
  private let root: SealingKey
  let names: ItemNames
  private let dataKeys: [UInt32: SealingKey]
  private let wrappedRoot: WrappedKey
  /// The key of the source, which may be that of an earlier `wrappedRoot`.
  private let wrapping: WrappingKey?
  /// The revisions of everything that the keys were read from.
  private let revisions: [EtcdKey: Int64]

  /// The format in which everything is stored.
  static let version: UInt8 = 1
  static let use = WrappedKey.Use(
    name: "swift-keyring etcd", prefix: Array("etcd\0".utf8) + [version])

  // MARK: - Reading

  /// The requests for everything that the keys are read from.
  static func requests(_ namespace: Namespace) -> [Transaction.Step] {
    [
      .range(RangeRequest(namespace.meta)), .range(RangeRequest(namespace.primary)),
      .range(RangeRequest(prefix: namespace.keys)),
    ]
  }

  /// Reads the keys from the replies to ``requests(_:)``.
  ///
  /// Only keys that aren't among the known ones need the source.
  init(
    _ values: [KeyValue], of namespace: Namespace, known: NamespaceKeys?,
    _ source: KeySource, _ request: KeyRequest
  ) async throws(SecureStorageError) {
    let values = Dictionary(values.map { ($0.key, $0) }) { $1 }
    if values.isEmpty {
      guard known == nil else {
        throw request.error(
          .damaged, "The \(request.subject) has been removed from the cluster.",
          recoverySuggestion: "Restore the cluster from a backup.")
      }
      throw request.error(
        .noStorage, "The cluster has no \(request.subject).",
        recoverySuggestion: "Check the name. Create a new namespace with createNamespace(), once.")
    }
    guard let meta = values[namespace.meta], let primary = values[namespace.primary],
      let rootValue = values[namespace.rootKey]
    else { throw request.damaged("its keys are incomplete") }
    guard rootValue.value.first == Self.version,
      let wrappedRoot = WrappedKey(rootValue.value.dropFirst())
    else { throw request.damaged("its root key isn't in the expected format") }
    let foreign = "its keys weren't written by this package"
    guard let description = NamespaceDescription(meta.value), let main = PrimaryKey(primary.value)
    else { throw request.damaged(foreign) }
    if let known {
      // Whatever part of a description was changed, the error is the same.
      guard
        wrappedRoot != known.wrappedRoot
          || description.isAuthentic(Self.authenticator(known.root), namespace)
      else { throw request.damaged(foreign) }
      guard known.description.id == description.id else {
        throw request.damaged("another namespace has taken its place")
      }
      guard description.generation >= known.description.generation,
        main.generation >= known.primary.generation
      else { throw request.damaged("its keys are older than those that it had before") }
      guard main.generation > known.primary.generation || main.id == known.primary.id else {
        throw request.damaged("its keys were replaced by others that don't belong to it")
      }
    }

    // The source is asked at most once, and only for keys that aren't known yet.
    var wrapping = known?.wrapping
    func unwrap(
      _ box: some Collection<UInt8>, _ name: String
    ) async throws(SecureStorageError) -> SealingKey {
      let key = try await Self.wrappingKey(of: wrappedRoot, known: wrapping, source, request)
      wrapping = key
      return try key.unwrap(
        box, authenticating: Self.binding(name, description.id, namespace), request)
    }
    func unwrapDataKey(
      _ box: some Collection<UInt8>, _ name: String
    ) async throws(SecureStorageError) -> SealingKey {
      do throws(SecureStorageError) {
        return try await unwrap(box, name)
      } catch {
        // The key of the source is the right one if it opens the root key.
        guard error.code == .wrongKey, (try? await unwrap(wrappedRoot.box, "root")) != nil
        else { throw error }
        throw request.damaged("a data key isn't what was stored in its place")
      }
    }
    let root: SealingKey
    do throws(SecureStorageError) {
      root = if let known { known.root } else { try await unwrap(wrappedRoot.box, "root") }
    } catch {
      var error = error
      if error.code == .wrongKey, let advice = error.recoverySuggestion {
        error.recoverySuggestion =
          "\(advice) If it is the right one, the namespace was changed in the cluster: restore a backup."
      }
      throw error
    }
    let authenticator = Self.authenticator(root)
    guard description.isAuthentic(authenticator, namespace),
      main.isAuthentic(authenticator, namespace, description.id)
    else { throw request.damaged(foreign) }

    var dataKeys: [UInt32: SealingKey] = [:]
    for (key, value) in values
    where key.path.hasPrefix(namespace.keys.path) && key != namespace.rootKey {
      let name = key.path.dropFirst(namespace.keys.path.count)
      guard let id = UInt32(name, radix: 16), namespace.dataKey(id) == key,
        value.value.first == Self.version
      else { throw request.damaged("it has a key in an unknown format") }
      // The operator of the cluster can put a key back that was removed.
      guard id == main.id || main.older.contains(id) else { continue }
      dataKeys[id] =
        if let same = known?.dataKeys[id] { same } else {
          try await unwrapDataKey(value.value.dropFirst(), id.hexadecimal)
        }
    }
    guard ([main.id] + main.older).allSatisfy({ dataKeys[$0] != nil }) else {
      throw request.damaged("a data key is missing")
    }
    self.namespace = namespace
    self.description = description
    self.primary = main
    conditions = [meta, primary].map { .init($0.key, value: $0.value) }
    (self.root, self.dataKeys, self.wrapping) = (root, dataKeys, wrapping)
    names = known?.names ?? ItemNames(root.derived(for: "names"), in: namespace)
    self.wrappedRoot = wrappedRoot
    revisions = values.mapValues(\.revision)
  }

  /// Returns the key that wraps a root key, and asks the source only if it isn't the known one.
  private static func wrappingKey(
    of root: WrappedKey, known: WrappingKey?, _ source: KeySource, _ request: KeyRequest
  ) async throws(SecureStorageError) -> WrappingKey {
    if let known, known.parameters == root.parameters { return known }
    return try await WrappingKey(root.parameters, of: source, for: use, request)
  }

  /// The data that a wrapped key authenticates, so that it can't take the place of another one.
  private static func binding(_ name: String, _ id: [UInt8], _ namespace: Namespace) -> [UInt8] {
    id + Array("\(namespace.name)\0\(name)".utf8)
  }

  private static func authenticator(_ root: SealingKey) -> SealingKey {
    root.derived(for: "authentication")
  }

  // MARK: - Creating

  /// Returns the changes that create a namespace.
  static func creation(
    of namespace: Namespace, _ source: KeySource, _ request: KeyRequest
  ) async throws(SecureStorageError) -> [ConditionalChange] {
    let wrapping = try await WrappingKey(of: source, for: use, request)
    let (root, dataKey) = (SealingKey(), SealingKey())
    let description = NamespaceDescription(id: .random(16), generation: 1)
    let primary = PrimaryKey(id: .random(in: 1 ... .max), generation: 1)
    let authenticator = authenticator(root)
    func box(_ key: SealingKey, _ name: String) throws(SecureStorageError) -> [UInt8] {
      try wrapping.wrap(
        key, authenticating: binding(name, description.id, namespace), request)
    }
    let values: [(key: EtcdKey, value: [UInt8])] = [
      (namespace.meta, description.bytes(authenticator, namespace)),
      (namespace.primary, primary.bytes(authenticator, namespace, description.id)),
      (namespace.rootKey, [version] + wrapping.parameters.bytes + (try box(root, "root"))),
      (namespace.dataKey(primary.id), [version] + (try box(dataKey, primary.id.hexadecimal))),
    ]
    return values.map { ConditionalChange(key: $0.key, revision: 0, value: $0.value) }
  }

  // MARK: - Changing

  /// Returns the changes that wrap all keys with the key of another source, or `nil` if that one opens them already.
  ///
  /// The present source must open the namespace. Otherwise, a process could undo a change that it hasn't noticed.
  func rewrapping(
    from present: KeySource, to source: KeySource, _ request: (KeyRequest.Purpose) -> KeyRequest
  ) async throws(SecureStorageError) -> [ConditionalChange]? {
    do throws(SecureStorageError) {
      _ = try await opening(with: present, known: wrapping, request(.opening))
    } catch {
      if error.code == .wrongKey,
        (try? await opening(with: source, known: nil, request(.opening))) != nil
      {
        return nil
      }
      throw error
    }
    let request = request(.creation)
    let wrapping = try await WrappingKey(of: source, for: Self.use, request)
    var changes = [
      change(
        namespace.meta,
        NamespaceDescription(id: description.id, generation: description.generation + 1)
          .bytes(Self.authenticator(root), namespace)),
      change(
        namespace.rootKey,
        [Self.version] + wrapping.parameters.bytes + (try box(root, "root", wrapping, request))),
    ]
    for (id, key) in dataKeys {
      changes.append(
        change(
          namespace.dataKey(id),
          [Self.version] + (try box(key, id.hexadecimal, wrapping, request))))
    }
    return changes
  }

  /// Returns the changes that add a data key, and make it the one for new items.
  ///
  /// The source must open the namespace. Otherwise, no process that starts later could open the new key.
  func addingDataKey(
    _ source: KeySource, _ request: KeyRequest
  ) async throws(SecureStorageError) -> [ConditionalChange] {
    let wrapping = try await opening(with: source, known: wrapping, request)
    var id = primary.id
    while dataKeys[id] != nil { id = .random(in: 1 ... .max) }
    return [
      change(
        namespace.dataKey(id),
        [Self.version] + (try box(SealingKey(), id.hexadecimal, wrapping, request))),
      changePrimary(to: id, older: [primary.id] + primary.older),
    ]
  }

  /// Returns the key of a source, which must open the root key.
  private func opening(
    with source: KeySource, known: WrappingKey?, _ request: KeyRequest
  ) async throws(SecureStorageError) -> WrappingKey {
    let key = try await Self.wrappingKey(of: wrappedRoot, known: known, source, request)
    _ = try key.unwrap(
      wrappedRoot.box, authenticating: Self.binding("root", description.id, namespace), request)
    return key
  }

  /// The changes that remove the older data keys.
  var removingOlderDataKeys: [ConditionalChange] {
    primary.older.map { change(namespace.dataKey($0), nil) } + [changePrimary(to: primary.id)]
  }

  private func changePrimary(to id: UInt32, older: [UInt32] = []) -> ConditionalChange {
    let new = PrimaryKey(id: id, generation: primary.generation + 1, older: older)
    return change(namespace.primary, new.bytes(Self.authenticator(root), namespace, description.id))
  }

  private func change(_ key: EtcdKey, _ value: [UInt8]?) -> ConditionalChange {
    ConditionalChange(key: key, revision: revisions[key] ?? 0, value: value)
  }

  private func box(
    _ key: SealingKey, _ name: String, _ wrapping: WrappingKey, _ request: KeyRequest
  ) throws(SecureStorageError) -> [UInt8] {
    try wrapping.wrap(
      key, authenticating: Self.binding(name, description.id, namespace), request)
  }

  // MARK: - Items

  /// Encrypts an item for the key under which it's stored.
  func seal(_ item: FleetItem, _ key: EtcdKey) throws(SealingKey.Failure) -> [UInt8] {
    guard let dataKey = dataKeys[primary.id] else { throw SealingKey.Failure() }
    let header = Self.header(primary.id)
    var bytes = header
    try dataKey.seal(item.content, authenticating: binding(header, key), appendingTo: &bytes)
    return bytes
  }

  /// Decrypts an item.
  func open(_ value: KeyValue) throws(FleetItem.Damage) -> FleetItem {
    guard value.value.count > 5, value.value[0] == Self.version else { throw .format }
    let header = Array(value.value.prefix(5))
    let id = UInt32(bigEndianBytes: header[1...])
    guard let dataKey = dataKeys[id] else { throw .unknownKey }
    do {
      let content = try dataKey.open(value.value[5...], authenticating: binding(header, value.key))
      let item = try FleetItem(content, revision: value.revision)
      // Each service of the fleet has the data keys, and could give its item the key of another one's.
      guard names.isName(value.key, of: item.record.key) else { throw FleetItem.Damage.content }
      return item
    } catch {
      throw .content
    }
  }

  /// Returns whether an item is encrypted with the data key for new items.
  func isCurrent(_ value: KeyValue) -> Bool { value.value.starts(with: Self.header(primary.id)) }

  private static func header(_ id: UInt32) -> [UInt8] {
    [version] + id.bigEndianBytes
  }

  /// The data that an item authenticates, so that it can't take the place of another one.
  private func binding(_ header: [UInt8], _ key: EtcdKey) -> [UInt8] {
    header + description.id + Array(key.path.utf8)
  }
}

extension KeyRequest {
  func damaged(_ how: String) -> SecureStorageError {
    error(.damaged, "The \(subject) is damaged: \(how).")
  }
}
#endif
