public import KeyringStorage

extension SecureProperties {
  /// Moves the items of all properties here from another storage.
  ///
  /// A property with a storage of its own stays where it is.
  ///
  /// ```swift
  /// try SecureProperties(of: settings).migrate(from: oldStorage)
  /// ```
  ///
  /// - Parameters:
  ///   - source: Where the items are.
  ///   - destination: Where they go to; by default the storage in force.
  ///   - progress: Called meanwhile, on the same thread.
  /// - Returns: How many items were moved.
  /// - Throws: What `Migration.run()` throws.
  @discardableResult
  public func migrate(
    from source: any SecureStorage, to destination: (any SecureStorage)? = nil,
    progress: @escaping @Sendable (Migration.Progress) -> Void = { _ in }
  ) throws(SecureStorageError) -> Int {
    try migration(from: source, to: destination, progress).run()
  }

  /// Moves plaintext values to the properties of the same names: to storages of their own, if they
  /// have one.
  ///
  /// Text becomes a password; a JSON object with the members `login` and `password`, or text that is
  /// one, a credential; and JSON, or text that is JSON, a value of the property's type.
  ///
  /// ```swift
  /// try SecureProperties(of: settings)
  ///   .migrate(from: .environmentFile(path), at: ["authToken": ["AUTH_TOKEN"]])
  /// ```
  ///
  /// - Parameters:
  ///   - source: Where the values are.
  ///   - paths: For names of properties, the names on the way to their values; by default there is
  ///     one, that of the property.
  ///   - destination: Where the values go to; by default the storage in force.
  ///   - progress: Called meanwhile, on the same thread.
  /// - Returns: How many values were moved.
  /// - Throws: What `Migration.run()` throws, `.invalidArgument` when no property has one of the
  ///   names.
  @discardableResult
  public func migrate(
    from source: Plaintext, at paths: [String: [String]] = [:],
    to destination: (any SecureStorage)? = nil,
    progress: @escaping @Sendable (Migration.Progress) -> Void = { _ in }
  ) throws(SecureStorageError) -> Int {
    try migration(from: source, at: paths, to: destination, progress).run()
  }

  // MARK: - The asynchronous overloads

  /// Moves the items of all properties here from another storage, without blocking the task's thread.
  ///
  /// - Parameters:
  ///   - source: Where the items are.
  ///   - destination: Where they go to; by default the storage in force.
  ///   - progress: Called meanwhile, on another thread.
  /// - Returns: How many items were moved.
  /// - Throws: What the synchronous operation throws, and `.canceled`: run it again then to finish it.
  @discardableResult
  public func migrate(
    from source: any SecureStorage, to destination: (any SecureStorage)? = nil,
    progress: @escaping @Sendable (Migration.Progress) -> Void = { _ in }
  ) async throws(SecureStorageError) -> Int {
    try await migration(from: source, to: destination, progress).run()
  }

  /// Moves plaintext values to the properties of the same names, without blocking the task's thread.
  ///
  /// - Parameters:
  ///   - source: Where the values are.
  ///   - paths: For names of properties, the names on the way to their values.
  ///   - destination: Where the values go to; by default the storage in force.
  ///   - progress: Called meanwhile, on another thread.
  /// - Returns: How many values were moved.
  /// - Throws: What the synchronous operation throws, and `.canceled`: run it again then to finish it.
  @discardableResult
  public func migrate(
    from source: Plaintext, at paths: [String: [String]] = [:],
    to destination: (any SecureStorage)? = nil,
    progress: @escaping @Sendable (Migration.Progress) -> Void = { _ in }
  ) async throws(SecureStorageError) -> Int {
    try await migration(from: source, at: paths, to: destination, progress).run()
  }

  // MARK: - The plans

  private func migration(
    from source: any SecureStorage, to destination: (any SecureStorage)?,
    _ progress: @escaping @Sendable (Migration.Progress) -> Void
  ) -> Migration {
    let keys = members.filter { !$0.hasExplicitStorage }.map(\.key)
    return Migration(
      of: keys, from: source, to: destination ?? SecureStorageDefaults.storageInForce,
      progress: progress)
  }

  private func migration(
    from source: Plaintext, at paths: [String: [String]], to destination: (any SecureStorage)?,
    _ progress: @escaping @Sendable (Migration.Progress) -> Void
  ) throws(SecureStorageError) -> Migration {
    for name in paths.keys where !members.contains(where: { $0.name == name }) {
      throw SecureStorageError(
        .invalidArgument, operation: .migrate, backend: "SecureProperties",
        message: "There is no property \"\(name)\".", argument: "paths")
    }
    // The same item may be declared several times; it is migrated once.
    var seen: Set<ItemKey> = []
    let members = members.filter { seen.insert($0.key).inserted }
    func items(_ members: [any SecurePropertyMember]) -> [PlaintextItem] {
      members.map { $0.plaintextItem(at: paths[$0.name] ?? [$0.name]) }
    }
    let common = items(members.filter { !$0.hasExplicitStorage })
    let own = members.filter(\.hasExplicitStorage).map { (items([$0]), $0.storage) }
    return Migration(
      [(common, destination ?? SecureStorageDefaults.storageInForce)] + own, from: source,
      progress: progress)
  }
}
