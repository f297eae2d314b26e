// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A source of items that are still plaintext values.
struct PlaintextMigrationSource: MigrationSource {
  let store: any PlaintextStore
  let plans: [PlaintextMapping]
  /// The paths of values that are moved to other storages.
  let otherPaths: Set<[String]>

  var storage: (any SecureStorage)? { nil }

  func items() throws(SecureStorageError) -> [SecureItem] {
    let values = try store.values(at: plans.map(\.path))
    var result: [SecureItem] = []
    var seen = otherPaths
    for (plan, value) in zip(plans, values) {
      guard let value else { continue }
      guard seen.insert(plan.path).inserted else {
        throw store.failure(.ambiguous, .read, "The value \(plan.name) is mapped to several items.")
      }
      guard let item = plan.item(value) else {
        throw store.failure(.undecodable, .read, "The value \(plan.name) has another type.")
      }
      result.append(item)
    }
    return result
  }

  func remove(_ migrated: [SecureItem], _ done: () -> Void) throws(SecureStorageError) {
    let migrated = Dictionary(uniqueKeysWithValues: migrated.map { ($0.key, $0) })
    let plans = plans.filter { migrated[$0.key] != nil }
    try store.remove(plans.map(\.path)) { (values) throws(SecureStorageError) in
      for (plan, value) in zip(plans, values) {
        guard let value else { continue }
        guard plan.item(value) == migrated[plan.key] else {
          throw .sourceChanged(plan.name, store.name)
        }
      }
    }
    for _ in migrated { done() }
  }
}
