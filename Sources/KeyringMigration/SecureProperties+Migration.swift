// SPDX-License-Identifier: Apache-2.0

public import Keyring
public import KeyringStorage

extension SecureProperties {
  /// Moves the items of all properties from another storage to the current storage.
  ///
  /// Properties with their own storage are left unchanged.
  ///
  /// ```swift
  /// try SecureProperties(of: settings).migrate(from: oldStorage)
  /// ```
  ///
  /// - Parameters:
  ///   - source: The storage of the items.
  ///   - destination: The storage to move the items to. The default is the current storage.
  ///   - progress: The closure to call during the migration, on the same thread.
  /// - Returns: The number of moved items.
  /// - Throws: The errors of `Migration.move()`.
  @discardableResult
  public func migrate(
    from source: any SecureStorage, to destination: (any SecureStorage)? = nil,
    progress: @escaping @Sendable (Migration.Progress) -> Void = { _ in }
  ) throws(SecureStorageError) -> Int {
    try migration(from: source, to: destination, progress).move().count
  }

  /// Moves plaintext values to the properties of the same names.
  ///
  /// Text becomes a password. JSON, also in text, becomes a value, or with the members `login` and `password` a
  /// credential.
  ///
  /// ```swift
  /// try SecureProperties(of: settings)
  ///   .migrate(from: .environmentFile(path), at: ["authToken": ["AUTH_TOKEN"]])
  /// ```
  ///
  /// - Parameters:
  ///   - source: The source of the values.
  ///   - paths: The names on the way to the value, for each name of a property. The default is a single
  ///     name, the name of the property.
  ///   - destination: The storage to move the values to. The default is the current storage.
  ///   - progress: The closure to call during the migration, on the same thread.
  /// - Returns: The number of moved values.
  /// - Throws: The errors of `Migration.move()`, or `.invalidArgument` if there is no property with one of the names.
  @discardableResult
  public func migrate(
    from source: PlaintextSource, at paths: [String: [String]] = [:],
    to destination: (any SecureStorage)? = nil,
    progress: @escaping @Sendable (Migration.Progress) -> Void = { _ in }
  ) throws(SecureStorageError) -> Int {
    try migration(from: source, at: paths, to: destination, progress).move().count
  }

  // MARK: - The asynchronous overloads

  /// Moves the items of all properties from another storage, suspending the task.
  ///
  /// - Parameters:
  ///   - source: The storage of the items.
  ///   - destination: The storage to move the items to. The default is the current storage.
  ///   - progress: The closure to call during the migration, on another thread.
  /// - Returns: The number of moved items.
  /// - Throws: The errors of the synchronous overload, or `.canceled` for a cancelled task. In that case, run it
  ///   again to finish the migration.
  @discardableResult
  public func migrate(
    from source: any SecureStorage, to destination: (any SecureStorage)? = nil,
    progress: @escaping @Sendable (Migration.Progress) -> Void = { _ in }
  ) async throws(SecureStorageError) -> Int {
    try await migration(from: source, to: destination, progress).move().count
  }

  /// Moves plaintext values to the properties of the same names, suspending the task.
  ///
  /// - Parameters:
  ///   - source: The source of the values.
  ///   - paths: The names on the way to the value, for each name of a property.
  ///   - destination: The storage to move the values to. The default is the current storage.
  ///   - progress: The closure to call during the migration, on another thread.
  /// - Returns: The number of moved values.
  /// - Throws: The errors of the synchronous overload, or `.canceled` for a cancelled task. In that case, run it
  ///   again to finish the migration.
  @discardableResult
  public func migrate(
    from source: PlaintextSource, at paths: [String: [String]] = [:],
    to destination: (any SecureStorage)? = nil,
    progress: @escaping @Sendable (Migration.Progress) -> Void = { _ in }
  ) async throws(SecureStorageError) -> Int {
    try await migration(from: source, at: paths, to: destination, progress).move().count
  }

  // MARK: - Creating migrations

  private func migration(
    from source: any SecureStorage, to destination: (any SecureStorage)?,
    _ progress: @escaping @Sendable (Migration.Progress) -> Void
  ) -> Migration {
    let keys = members.filter { !$0.hasExplicitStorage }.map(\.key)
    return Migration(
      of: keys, from: source, to: destination ?? SecureStorageDefaults.currentStorage,
      progress: progress)
  }

  private func migration(
    from source: PlaintextSource, at paths: [String: [String]],
    to destination: (any SecureStorage)?,
    _ progress: @escaping @Sendable (Migration.Progress) -> Void
  ) throws(SecureStorageError) -> Migration {
    for name in paths.keys where !members.contains(where: { $0.name == name }) {
      throw SecureStorageError(
        .invalidArgument, operation: .migrate, backendName: "SecureProperties",
        message: "There is no property \"\(name)\".",
        recoverySuggestion: """
          Use one of these names: \(members.map { "\"\($0.name)\"" }.joined(separator: ", ")).
          """, argument: "paths")
    }
    // Several properties can declare the same item of the current storage, which is migrated only once. A property
    // with its own storage can't share a value.
    var seen: Set<ItemKey> = []
    let members = members.filter { $0.hasExplicitStorage || seen.insert($0.key).inserted }
    func items(_ members: [any SecurePropertyMember]) -> [PlaintextMapping] {
      members.map {
        PlaintextMapping(path: paths[$0.name] ?? [$0.name], key: $0.key, parse: $0.parse)
      }
    }
    let common = items(members.filter { !$0.hasExplicitStorage })
    let own = members.filter(\.hasExplicitStorage).map { (items([$0]), $0.storage) }
    return Migration(
      [(common, destination ?? SecureStorageDefaults.currentStorage)] + own, from: source,
      progress: progress)
  }
}
