// SPDX-License-Identifier: Apache-2.0

#if Configuration
internal import Configuration
internal import KeyringStorage
internal import Synchronization

/// The values at the time the snapshot was made, in memory that is overwritten on release.
final class StoredSnapshot: ConfigSnapshot {
  private enum State: Sendable {
    /// The secrets; `nil` if several items have the same key.
    case read([ItemKey: Secret?])
    case failed(SecureStorageError)
    /// The results so far, if the storage can't list its items.
    case readOneByOne([ItemKey: Result<Secret?, SecureStorageError>])
  }

  let providerName: String
  private let values: StoredValues
  private let state: Mutex<State>

  init(
    providerName: String, values: StoredValues, _ items: Result<[SecureItem], SecureStorageError>
  ) {
    self.providerName = providerName
    self.values = values
    switch items {
    case .success(let items):
      let secrets = items.compactMap { item in item.secret.map { (item.key, Optional($0)) } }
      state = Mutex(.read(Dictionary(secrets) { _, _ in nil }))
    case .failure(let error) where error.code == .invalidArgument && error.argument == "query":
      state = Mutex(.readOneByOne([:]))
    case .failure(let error): state = Mutex(.failed(error))
    }
  }

  func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    let itemKey = values.key(key)
    let secret = try state.withLock { state throws(SecureStorageError) -> Secret? in
      switch state {
      case .read(let secrets):
        guard let known = secrets[itemKey] else { return nil }
        if let secret = known { return secret }
        // If several items have the same key, only the storage can choose one or report the ambiguity.
        return try values.storage.secret(for: itemKey)
      case .failed(let error): throw error
      case .readOneByOne(var results):
        let result =
          results[itemKey]
          ?? Result { () throws(SecureStorageError) in try values.storage.secret(for: itemKey) }
        results[itemKey] = result
        state = .readOneByOne(results)
        return try result.get()
      }
    }
    return try values.result(secret, key, type)
  }
}
#endif
