// SPDX-License-Identifier: Apache-2.0

#if Configuration
internal import Configuration
internal import KeyringStorage
internal import Synchronization

/// The values at the time the snapshot was made, in memory that is overwritten on release.
final class StoredSnapshot: ConfigSnapshot {
  private typealias Result = Swift.Result<Secret?, SecureStorageError>

  private enum State: Sendable {
    /// The secrets; `nil` if several items have the same key.
    case read([ItemKey: Secret?])
    case failed(SecureStorageError)
    /// The results so far, for a storage that can't list its items.
    case readOneByOne([ItemKey: Result])
  }

  let providerName: String
  private let values: StoredValues
  private let state: Mutex<State>

  init(
    providerName: String, values: StoredValues,
    _ items: Swift.Result<[SecureItem], SecureStorageError>
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
    let known = try state.withLock { state throws(SecureStorageError) -> Result? in
      switch state {
      case .read(let secrets):
        guard let secret = secrets[itemKey] else { return .success(nil) }
        // If several items have the same key, only the storage can choose one or report the ambiguity.
        return secret.map(Result.success)
      case .failed(let error): throw error
      case .readOneByOne(let results): return results[itemKey]
      }
    }
    return try values.result((known ?? read(itemKey)).get(), key, type)
  }

  /// Reads a secret from the storage, and keeps the result for one that can't list its items.
  private func read(_ key: ItemKey) -> Result {
    let result = Result { () throws(SecureStorageError) in try values.storage.secret(for: key) }
    return state.withLock { state in
      guard case .readOneByOne(var results) = state else { return result }
      // Another thread may have read it in the meantime.
      let first = results[key] ?? result
      results[key] = first
      state = .readOneByOne(results)
      return first
    }
  }
}
#endif
