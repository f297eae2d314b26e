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

  static let use = WrappedKey.Use(
    name: "swift-keyring etcd", prefix: Array("etcd\0".utf8) + [Namespace.formatVersion])

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
  /// Only new keys need the source.
  init(
    _ values: [KeyValue], of namespace: Namespace, known: NamespaceKeys?,
    _ source: KeySource, _ request: KeyRequest
  ) async throws(SecureStorageError) {
    let stored = try StoredKeys(values, of: namespace, isKnown: known != nil, request)
    try known?.checkSuccessor(stored, request)
    var unwrapping = Unwrapping(
      stored: stored, wrapping: known?.wrapping, source: source, request: request)
    let root = if let known { known.root } else { try await unwrapping.root() }
    let authenticator = Self.authenticator(root)
    let (description, primary) = (stored.description, stored.primary)
    guard description.isAuthentic(authenticator, namespace),
      primary.isAuthentic(authenticator, namespace, description.id)
    else { throw StoredKeys.foreign(request) }
    var dataKeys: [UInt32: SealingKey] = [:]
    // The operator of the cluster can put a key back that was removed.
    for (id, box) in try stored.dataKeys(request) where primary.accepts(id) {
      dataKeys[id] =
        if let same = known?.dataKeys[id] { same } else {
          try await unwrapping.dataKey(box, id)
        }
    }
    guard ([primary.id] + primary.older).allSatisfy({ dataKeys[$0] != nil }) else {
      throw request.damaged("a data key is missing")
    }
    (self.namespace, self.description, self.primary) = (namespace, description, primary)
    (self.root, self.dataKeys, wrapping) = (root, dataKeys, unwrapping.wrapping)
    conditions = stored.conditions
    names = known?.names ?? ItemNames(root.derived(for: "names"), in: namespace)
    wrappedRoot = stored.root
    revisions = stored.revisions
  }

  /// Refuses keys that can't be later ones of the same namespace.
  private func checkSuccessor(
    _ new: StoredKeys, _ request: KeyRequest
  ) throws(SecureStorageError) {
    // Whatever part of a description was changed, the error is the same.
    guard
      new.root != wrappedRoot || new.description.isAuthentic(Self.authenticator(root), namespace)
    else { throw StoredKeys.foreign(request) }
    guard new.description.id == description.id else {
      throw request.damaged("another namespace has taken its place")
    }
    guard new.description.generation >= description.generation,
      new.primary.generation >= primary.generation
    else { throw request.damaged("its keys are older than those that it had before") }
    guard new.primary.generation > primary.generation || new.primary.id == primary.id else {
      throw request.damaged("its keys were replaced by others that don't belong to it")
    }
  }

  /// The unwrapping of stored keys, for which the source is asked at most once.
  private struct Unwrapping {
    let stored: StoredKeys
    var wrapping: WrappingKey?
    let source: KeySource
    let request: KeyRequest

    mutating func root() async throws(SecureStorageError) -> SealingKey {
      do throws(SecureStorageError) {
        return try await unwrap(stored.root.box, "root")
      } catch {
        var error = error
        if error.code == .wrongKey, let advice = error.recoverySuggestion {
          error.recoverySuggestion =
            "\(advice) If it is the right one, the namespace was changed in the cluster: restore a backup."
        }
        throw error
      }
    }

    mutating func dataKey(
      _ box: some Collection<UInt8>, _ id: UInt32
    ) async throws(SecureStorageError) -> SealingKey {
      do throws(SecureStorageError) {
        return try await unwrap(box, id.bigEndianBytes.hexadecimal)
      } catch {
        // The key of the source is the right one if it opens the root key.
        guard error.code == .wrongKey, (try? await unwrap(stored.root.box, "root")) != nil
        else { throw error }
        throw request.damaged("a data key isn't what was stored in its place")
      }
    }

    private mutating func unwrap(
      _ box: some Collection<UInt8>, _ name: String
    ) async throws(SecureStorageError) -> SealingKey {
      let key = try await wrappingKey(of: stored.root, known: wrapping, source, request)
      wrapping = key
      return try key.unwrap(
        box, authenticating: stored.namespace.binding(name, stored.description.id), request)
    }
  }

  /// Returns the key that wraps a root key, and asks the source only for a new one.
  private static func wrappingKey(
    of root: WrappedKey, known: WrappingKey?, _ source: KeySource, _ request: KeyRequest
  ) async throws(SecureStorageError) -> WrappingKey {
    if let known, known.parameters == root.parameters { return known }
    return try await WrappingKey(root.parameters, of: source, for: use, request)
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
    let root = SealingKey()
    let description = NamespaceDescription(id: .random(16), generation: 1)
    let primary = PrimaryKey(id: .random(in: 1 ... .max), generation: 1)
    var values = try Self.values(
      root, [primary.id: SealingKey()], description, in: namespace, wrapping, request)
    values[namespace.primary] = primary.bytes(authenticator(root), namespace, description.id)
    return values.map { ConditionalChange(key: $0, revision: 0, value: $1) }
  }

  /// Returns the description and the wrapped keys, each for its place.
  private static func values(
    _ root: SealingKey, _ dataKeys: [UInt32: SealingKey], _ description: NamespaceDescription,
    in namespace: Namespace, _ wrapping: WrappingKey, _ request: KeyRequest
  ) throws(SecureStorageError) -> [EtcdKey: [UInt8]] {
    func box(_ key: SealingKey, _ name: String) throws(SecureStorageError) -> [UInt8] {
      try wrapping.wrap(key, authenticating: namespace.binding(name, description.id), request)
    }
    var values = [
      namespace.meta: description.bytes(authenticator(root), namespace),
      namespace.rootKey: [Namespace.formatVersion] + wrapping.parameters.bytes
        + (try box(root, "root")),
    ]
    for (id, key) in dataKeys {
      values[namespace.dataKey(id)] =
        [Namespace.formatVersion] + (try box(key, id.bigEndianBytes.hexadecimal))
    }
    return values
  }

  // MARK: - Changing

  /// Returns the changes that wrap all keys with the key of another source, or `nil` for one that opens them already.
  ///
  /// The present source must open the namespace, so that a process can't undo a change that it has missed.
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
    let description = NamespaceDescription(
      id: self.description.id, generation: self.description.generation + 1)
    return try Self.values(root, dataKeys, description, in: namespace, wrapping, request)
      .map { change($0, $1) }
  }

  /// Returns the changes that add a data key, and make it the one for new items.
  ///
  /// The source must open the namespace, so that processes that start later can open the new key.
  func addingDataKey(
    _ source: KeySource, _ request: KeyRequest
  ) async throws(SecureStorageError) -> [ConditionalChange] {
    let wrapping = try await opening(with: source, known: wrapping, request)
    var id = primary.id
    while dataKeys[id] != nil { id = .random(in: 1 ... .max) }
    let box = try wrapping.wrap(
      SealingKey(),
      authenticating: namespace.binding(id.bigEndianBytes.hexadecimal, description.id), request)
    return [
      change(namespace.dataKey(id), [Namespace.formatVersion] + box),
      changePrimary(to: id, older: [primary.id] + primary.older),
    ]
  }

  /// Returns the key of a source, which must open the root key.
  private func opening(
    with source: KeySource, known: WrappingKey?, _ request: KeyRequest
  ) async throws(SecureStorageError) -> WrappingKey {
    let key = try await Self.wrappingKey(of: wrappedRoot, known: known, source, request)
    _ = try key.unwrap(
      wrappedRoot.box, authenticating: namespace.binding("root", description.id), request)
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

  // MARK: - Items

  /// Encrypts an item for the key under which it's stored.
  func seal(_ item: FleetItem, _ key: EtcdKey) throws(SealingKey.Failure) -> [UInt8] {
    try seal(item.content, key)
  }

  /// Encrypts something for the key under which it's stored.
  func seal(_ content: Secret, _ key: EtcdKey) throws(SealingKey.Failure) -> [UInt8] {
    guard let dataKey = dataKeys[primary.id] else { throw SealingKey.Failure() }
    let header = Self.header(primary.id)
    var bytes = header
    try dataKey.seal(content, authenticating: binding(header, key), appendingTo: &bytes)
    return bytes
  }

  /// Decrypts an item.
  func open(_ value: KeyValue) throws(FleetItem.Damage) -> FleetItem {
    let content = try content(of: value)
    guard let item = try? FleetItem(content, revision: value.revision),
      // Each service of the fleet has the data keys, and could give its item the key of another one's.
      names.isName(value.key, of: item.record.key)
    else { throw .content }
    return item
  }

  /// Decrypts what is stored under a key.
  func content(of value: KeyValue) throws(FleetItem.Damage) -> Secret {
    guard value.value.count > 5, value.value[0] == Namespace.formatVersion else { throw .format }
    let header = Array(value.value.prefix(5))
    let id = UInt32(bigEndianBytes: header[1...])
    guard let dataKey = dataKeys[id] else { throw .unknownKey }
    guard
      let content = try? dataKey.open(
        value.value[5...], authenticating: binding(header, value.key))
    else { throw .content }
    return content
  }

  /// Returns `true` for an item that is encrypted with the data key for new items.
  func isCurrent(_ value: KeyValue) -> Bool { value.value.starts(with: Self.header(primary.id)) }

  private static func header(_ id: UInt32) -> [UInt8] {
    [Namespace.formatVersion] + id.bigEndianBytes
  }

  /// The data that an item authenticates, which binds it to its place.
  private func binding(_ header: [UInt8], _ key: EtcdKey) -> [UInt8] {
    header + description.id + Array(key.path.utf8)
  }
}
#endif
