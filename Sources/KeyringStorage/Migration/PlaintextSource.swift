/// Items that are plaintext values still.
struct PlaintextSource: MigrationSource {
  let store: any PlaintextStore
  let plans: [PlaintextItem]
  /// The paths of values that go elsewhere.
  let otherPaths: Set<[String]>

  var storage: (any SecureStorage)? { nil }

  func items() throws(SecureStorageError) -> [SecureItem] {
    let values = try store.values(at: plans.map(\.path))
    var result: [SecureItem] = []
    var seen = otherPaths
    for (plan, value) in zip(plans, values) {
      guard let value else { continue }
      guard seen.insert(plan.path).inserted else {
        throw failure(.ambiguous, "The value \(plan.name) is to become several items.")
      }
      guard let item = plan.item(value) else {
        throw failure(.undecodable, "The value \(plan.name) is of another type.")
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

  private func failure(_ code: SecureStorageError.Code, _ message: String) -> SecureStorageError {
    SecureStorageError(
      code, operation: .read, backend: store.name, message: message,
      advice: "Correct it, and run the migration again.")
  }
}
