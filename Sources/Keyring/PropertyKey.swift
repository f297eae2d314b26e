internal import KeyringStorage
internal import Synchronization

/// The key of a property's item: always the same one, or that of whatever is the process's service.
///
/// A key takes longer to make than a storage in memory takes to find its item, so the last is kept.
enum PropertyKey: Sendable {
  case fixed(ItemKey)
  case ofDefaultService(LastKey)

  /// - Parameters:
  ///   - service: The service; `nil` for the process's.
  ///   - make: Makes the key for a service.
  init(of service: String?, _ make: @escaping @Sendable (String) -> ItemKey) {
    self = service.map { .fixed(make($0)) } ?? .ofDefaultService(LastKey(make))
  }

  /// The key, with the service in force now.
  var current: ItemKey {
    switch self {
    case .fixed(let key): key
    case .ofDefaultService(let last): last.current
    }
  }

  final class LastKey: Sendable {
    private let make: @Sendable (String) -> ItemKey
    /// With the number of changes of the service until then.
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
