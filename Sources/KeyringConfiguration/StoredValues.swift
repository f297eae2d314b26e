// SPDX-License-Identifier: Apache-2.0

#if Configuration
internal import Configuration
internal import KeyringStorage

/// The configuration values in a storage: the passwords of one service.
struct StoredValues: Sendable {
  let storage: any SecureStorage
  let service: String
  let accessGroup: String?

  /// The query for all of them, with their secrets.
  var query: ItemQuery { .service(service, kind: .password, details: .secret) }

  /// Returns the key of the item that stores a value.
  func key(_ key: AbsoluteConfigKey) -> ItemKey {
    .password(service: service, account: Self.name(key), accessGroup: accessGroup)
  }

  private static func name(_ key: AbsoluteConfigKey) -> String {
    key.components.joined(separator: ".")
  }

  /// Converts a secret to a lookup result.
  func result(
    _ secret: Secret?, _ key: AbsoluteConfigKey, _ type: ConfigType
  ) throws(SecureStorageError) -> LookupResult {
    let name = Self.name(key)
    guard let secret else { return LookupResult(encodedKey: name, value: nil) }
    guard let content = ConfigContent(secret, as: type) else {
      throw storage.error(
        .undecodable, during: .read,
        message: "The value of \"\(name)\" can't be read as the type \(type.rawValue).",
        recoverySuggestion: "Store it in the format of that type, or read it as another type.")
    }
    return LookupResult(encodedKey: name, value: ConfigValue(content, isSecret: true))
  }

  /// Returns the changes of items from now on, or `nil` for a storage that is silent about changes.
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
