#if Configuration
public import Configuration
public import KeyringStorage

/// A provider of [swift-configuration] that reads secret values from any storage.
///
/// ```swift
/// let storage = CredentialsDirectoryStorage(service: "org.example.app")
/// let config = ConfigReader(providers: [
///   SecureStorageProvider(storage, service: "org.example.app"),
///   EnvironmentVariablesProvider(),
/// ])
/// let password = try config.requiredString(forKey: "database.password", isSecret: true)
/// ```
///
/// The components of a key, with dots between, are the account of a password: the value of
/// `database.password` is the item that `setPassword("…", for: "database.password")` stores. The context
/// of a key is not looked at. Every value is marked secret, so that no log shows it.
///
/// | type | what is stored |
/// |---|---|
/// | string | Text. |
/// | int, double, bool | Text that Swift reads as such: `42`, `3.14`, `true`. |
/// | bytes | The bytes. |
/// | arrays | A JSON array; chunks of bytes are strings in Base64. |
///
/// A value that is not there is no value, so that the next provider is asked. A storage that cannot be
/// read throws, and so does what is stored and cannot be taken for the type: `.undecodable`.
///
/// Each get reads the storage, which takes as long as that takes; a snapshot reads all values of the
/// service at once. Where the storage is an ``/KeyringStorage/ObservableStorage``, watching reads again
/// after each change, by whichever process; on others there is the first value only.
///
/// [swift-configuration]: https://github.com/apple/swift-configuration
public struct SecureStorageProvider: Sendable {
  /// The name of the provider, as access logs give it.
  public let providerName: String

  private let values: StoredValues

  /// Makes a provider; nothing is read before it is used.
  ///
  /// - Parameters:
  ///   - storage: Where the secrets are.
  ///   - service: The service that the passwords belong to.
  ///   - accessGroup: The access group of the passwords.
  ///   - name: What tells this provider from another of its kind in logs.
  public init(
    _ storage: any SecureStorage, service: String, accessGroup: String? = nil, name: String? = nil
  ) {
    providerName = "SecureStorageProvider" + (name.map { "[\($0)]" } ?? "")
    values = StoredValues(storage: storage, service: service, accessGroup: accessGroup)
  }
}

extension SecureStorageProvider: ConfigProvider {
  /// Reads a value.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  /// - Returns: The value, or that there is none.
  /// - Throws: The reason why it can't be read.
  public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    let secret = try values.storage.secret(for: values.key(key))
    return try values.result(secret, key, type)
  }

  /// Reads a value without blocking the task's thread.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  /// - Returns: The value, or that there is none.
  /// - Throws: The reason why it can't be read.
  public func fetchValue(
    forKey key: AbsoluteConfigKey, type: ConfigType
  ) async throws -> LookupResult {
    let secret = try await values.storage.secret(for: values.key(key))
    return try values.result(secret, key, type)
  }

  /// Reads a value, and again whenever it has changed.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  ///   - updatesHandler: Gets the values, or what kept one from being read.
  /// - Returns: What the handler returned.
  /// - Throws: What the handler threw, or what keeps the storage from being observed.
  public nonisolated(nonsending) func watchValue<Return: ~Copyable>(
    forKey key: AbsoluteConfigKey, type: ConfigType,
    updatesHandler:
      nonisolated(nonsending) (
        _ updates: ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
      ) async throws -> Return
  ) async throws -> Return {
    let changes = try await values.changes(matching: .key(values.key(key)))
    let updates = Updates(changes: changes) { () async -> Result<LookupResult, any Error> in
      do {
        return .success(try await fetchValue(forKey: key, type: type))
      } catch {
        return .failure(error)
      }
    }
    return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
  }

  /// Reads all values of the service.
  ///
  /// A storage that cannot list its items is read when a value of the snapshot is first asked for, and
  /// the value then stays as it was.
  ///
  /// - Returns: The values; or what kept them from being read, which each of them throws then.
  public func snapshot() -> any ConfigSnapshot {
    let items = Result { () throws(SecureStorageError) in
      try values.storage.items(matching: values.query)
    }
    return StoredSnapshot(providerName: providerName, values: values, items)
  }

  /// Reads all values of the service, and again whenever one has changed.
  ///
  /// - Parameter updatesHandler: Gets the snapshots.
  /// - Returns: What the handler returned.
  /// - Throws: What the handler threw, or what keeps the storage from being observed.
  public nonisolated(nonsending) func watchSnapshot<Return: ~Copyable>(
    updatesHandler:
      nonisolated(nonsending) (
        _ updates: ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>
      ) async throws -> Return
  ) async throws -> Return {
    let changes = try await values.changes(matching: values.query)
    let updates = Updates(changes: changes) { () async -> any ConfigSnapshot in
      var items: Result<[SecureItem], SecureStorageError>
      do throws(SecureStorageError) {
        items = .success(try await values.storage.items(matching: values.query))
      } catch {
        items = .failure(error)
      }
      return StoredSnapshot(providerName: providerName, values: values, items)
    }
    return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
  }
}

extension SecureStorageProvider: CustomStringConvertible, CustomReflectable {
  /// The name of the provider and the service; never a value.
  public var description: String { "\(providerName)(\(values.service))" }
  /// A mirror that shows the service only.
  public var customMirror: Mirror { Mirror(self, children: ["service": values.service]) }
}
#endif
