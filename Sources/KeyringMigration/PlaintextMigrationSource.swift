// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A source of items that are still plaintext values.
struct PlaintextMigrationSource: MigrationSource {
  let store: any PlaintextStore
  let mappings: [PlaintextMapping]
  /// The paths of values that are moved to other storages.
  let otherPaths: Set<[String]>

  var storage: (any SecureStorage)? { nil }

  func items(moving isMoving: Bool) throws(SecureStorageError) -> [SecureItem] {
    let values = try store.values(at: mappings.map(\.path))
    if isMoving, values.contains(where: { $0 != nil }) { try store.checkIsRemovable() }
    var result: [SecureItem] = []
    var seen = otherPaths
    for (mapping, value) in zip(mappings, values) {
      guard let value else { continue }
      guard seen.insert(mapping.path).inserted else {
        throw store.failure(
          .ambiguous, .read, "The value \(mapping.name) is mapped to several items.")
      }
      guard let item = mapping.item(value) else {
        let reason = value.isInvalidText ? "isn't text in UTF-8" : "has another type"
        throw store.failure(.undecodable, .read, "The value \(mapping.name) \(reason).")
      }
      result.append(item)
    }
    return result
  }

  func remove(_ migrated: [SecureItem], _ done: () -> Void) throws(SecureStorageError) -> Int {
    let migrated = Dictionary(uniqueKeysWithValues: migrated.map { ($0.key, $0) })
    let mappings = mappings.filter { migrated[$0.key] != nil }
    var count = 0
    try store.remove(mappings.map(\.path)) { (values) throws(SecureStorageError) in
      count = values.count { $0 != nil }
      for (mapping, value) in zip(mappings, values) {
        guard let value else { continue }
        guard mapping.item(value) == migrated[mapping.key] else {
          throw .sourceChanged(mapping.name, store.name)
        }
      }
    }
    for _ in migrated { done() }
    return count
  }
}
