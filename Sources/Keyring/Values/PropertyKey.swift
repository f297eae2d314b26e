// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage
internal import Synchronization

extension ItemKey {
  /// The name of a property that is declared with the key.
  var propertyName: String {
    if let server { return account.map { "\($0)@\(server.host)" } ?? server.host }
    return account ?? label ?? defaultLabel
  }
}

/// The key of a property's item: a fixed key, or one that follows the service of the process.
///
/// Making a key takes longer than finding an item in an in-memory storage, so the last key is cached.
enum PropertyKey: Sendable {
  case fixed(ItemKey)
  case ofDefaultService(CachedKey)

  /// Creates a key for a service.
  ///
  /// - Parameters:
  ///   - service: The service, or `nil` to use the service of the process.
  ///   - make: The closure that makes the key for a service.
  init(of service: String?, _ make: @escaping @Sendable (String) -> ItemKey) {
    self = service.map { .fixed(make($0)) } ?? .ofDefaultService(CachedKey(make))
  }

  static func password(_ account: String, _ service: String?, _ accessGroup: String?) -> Self {
    Self(of: service) { .password(service: $0, account: account, accessGroup: accessGroup) }
  }

  static func value(_ account: String, _ service: String?, _ accessGroup: String?) -> Self {
    Self(of: service) { .value(service: $0, account: account, accessGroup: accessGroup) }
  }

  /// The key for the current service.
  var current: ItemKey {
    switch self {
    case .fixed(let key): key
    case .ofDefaultService(let last): last.current
    }
  }

  final class CachedKey: Sendable {
    private let make: @Sendable (String) -> ItemKey
    /// The last key, and the number of service changes at the time it was made.
    private let last = Mutex<(changes: Int, key: ItemKey)?>(nil)

    fileprivate init(_ make: @escaping @Sendable (String) -> ItemKey) { self.make = make }

    fileprivate var current: ItemKey {
      let changes = SecureStorageDefaults.serviceChanges
      return last.withLock { last in
        if let last, last.changes == changes { return last.key }
        let key = make(SecureStorageDefaults.service)
        last = (changes, key)
        return key
      }
    }
  }
}
