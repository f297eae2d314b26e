#if Configuration
internal import Configuration
internal import KeyringStorage

/// The configuration values among the items of a storage: the passwords of one service.
struct StoredValues: Sendable {
  let storage: any SecureStorage
  let service: String
  let accessGroup: String?

  /// All of them, with their secrets.
  var query: ItemQuery { .service(service, kind: .password, details: .secret) }

  /// The key of the item that a value is stored in.
  func key(_ key: AbsoluteConfigKey) -> ItemKey {
    .password(service: service, account: Self.name(key), accessGroup: accessGroup)
  }

  private static func name(_ key: AbsoluteConfigKey) -> String {
    key.components.joined(separator: ".")
  }

  /// The value that a secret is.
  func result(
    _ secret: Secret?, _ key: AbsoluteConfigKey, _ type: ConfigType
  ) throws(SecureStorageError) -> LookupResult {
    let name = Self.name(key)
    guard let secret else { return LookupResult(encodedKey: name, value: nil) }
    guard let content = ConfigContent(secret, as: type) else {
      throw SecureStorageError(
        .undecodable, operation: .read, backend: storage.backendName,
        message: "The value of \"\(name)\" cannot be taken for the type \(type.rawValue).",
        advice: "Store it as that type has it, or read it as another.")
    }
    return LookupResult(encodedKey: name, value: ConfigValue(content, isSecret: true))
  }

  /// The changes of items from now on; `nil` when the storage does not tell of any.
  func changes(matching query: ItemQuery) async throws(SecureStorageError) -> ItemChanges? {
    guard let storage = storage as? any ObservableStorage else { return nil }
    do throws(SecureStorageError) {
      return try await storage.changes(matching: query)
    } catch {
      if error.code == .notObservable { return nil }
      throw error
    }
  }
}
#endif
