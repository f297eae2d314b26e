// SPDX-License-Identifier: Apache-2.0

#if Configuration
public import Configuration
internal import KeyringRuntime
public import KeyringStorage

/// A provider of [swift-configuration](https://github.com/apple/swift-configuration) that reads secret
/// values from any storage.
///
/// A key such as `database.password` is the account of a password, and its context is ignored. Without an
/// item, the next provider is read; any failure throws.
///
/// ```swift
/// import Configuration
/// import Keyring
/// import KeyringConfiguration
///
/// let storage = CredentialsDirectoryStorage(service: "org.example.app")
/// let config = ConfigReader(providers: [
///   SecureStorageProvider(storage, service: "org.example.app"),
///   EnvironmentVariablesProvider(),
/// ])
/// let password = try config.requiredString(forKey: "database.password", isSecret: true)
/// ```
///
/// | type | stored form |
/// |---|---|
/// | string | text |
/// | int, double | text that Swift can parse as the type: `42`, `3.14` |
/// | bool | `true`, `yes` or `1`, and `false`, `no` or `0`, in any case |
/// | bytes | the bytes |
/// | arrays | a JSON array; chunks of bytes are strings in Base64 |
public struct SecureStorageProvider: Sendable {
  /// The name of the provider in access logs.
  public let providerName: String

  private let values: StoredValues

  /// Creates a provider, which reads at its first use.
  ///
  /// ```swift
  /// let provider = SecureStorageProvider(SecretServiceStorage(), service: "org.example.app")
  /// ```
  ///
  /// - Parameters:
  ///   - storage: The storage of the secrets.
  ///   - service: The service that the passwords belong to.
  ///   - accessGroup: The access group of the passwords.
  ///   - name: A name that identifies this provider among others of its kind in logs.
  public init(
    _ storage: any SecureStorage, service: String, accessGroup: String? = nil, name: String? = nil
  ) {
    providerName = "SecureStorageProvider" + (name.map { "[\($0)]" } ?? "")
    values = StoredValues(storage: storage, service: service, accessGroup: accessGroup)
  }
}

extension SecureStorageProvider: ConfigProvider {
  /// Reads a value.
  public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    let secret = try values.storage.secret(for: values.key(key))
    return try values.result(secret, key, type)
  }

  /// Reads a value asynchronously.
  public func fetchValue(
    forKey key: AbsoluteConfigKey, type: ConfigType
  ) async throws -> LookupResult {
    let secret = try await values.storage.secret(for: values.key(key))
    return try values.result(secret, key, type)
  }

  /// Reads a value, and reads it again after each change.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - type: The type of the value.
  ///   - updatesHandler: The closure that gets the values, or the errors of failed reads.
  /// - Returns: The result of the handler.
  /// - Throws: The error of the handler, or `SecureStorageError` for a failed observation.
  public nonisolated(nonsending) func watchValue<Return: ~Copyable>(
    forKey key: AbsoluteConfigKey, type: ConfigType,
    updatesHandler:
      nonisolated(nonsending) (
        _ updates: ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
      ) async throws -> Return
  ) async throws -> Return {
    let changes = try await values.changes(matching: .key(values.key(key)))
    let updates = Updates(changes: changes) {
      await Result { () async throws in try await fetchValue(forKey: key, type: type) }
    }
    return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
  }

  /// Reads all values of the service.
  ///
  /// For a storage that can't list its items, each value is read when you first ask the snapshot for it, and then stays
  /// the same.
  ///
  /// - Returns: The values. After a failed read, getting any of them throws the error.
  public func snapshot() -> any ConfigSnapshot {
    let items = Result { () throws(SecureStorageError) in
      try values.storage.items(matching: values.query)
    }
    return StoredSnapshot(providerName: providerName, values: values, items)
  }

  /// Reads all values of the service, and reads them again after each change.
  ///
  /// - Parameter updatesHandler: The closure that gets the snapshots.
  /// - Returns: The result of the handler.
  /// - Throws: The error of the handler, or `SecureStorageError` for a failed observation.
  public nonisolated(nonsending) func watchSnapshot<Return: ~Copyable>(
    updatesHandler:
      nonisolated(nonsending) (
        _ updates: ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>
      ) async throws -> Return
  ) async throws -> Return {
    let changes = try await values.changes(matching: values.query)
    let updates = Updates(changes: changes) { () async -> any ConfigSnapshot in
      let items = await Result { () async throws(SecureStorageError) in
        try await values.storage.items(matching: values.query)
      }
      return StoredSnapshot(providerName: providerName, values: values, items)
    }
    return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
  }
}

extension SecureStorageProvider: CustomStringConvertible, CustomReflectable {
  /// The name of the provider and the service, without any value.
  public var description: String { "\(providerName)(\(values.service))" }
  /// A mirror that shows only the service.
  public var customMirror: Mirror { Mirror(self, children: ["service": values.service]) }
}
#endif
