// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// The trial of calls: each one ends, and then does nothing any more.
extension ContractTrial {
  func canceledCallsAreNotMade() throws {
    try save("kept", password())
    // Once the storage has cached the secret, a cancelled call must not return it from the cache either.
    try expect(storage.secret(for: password()) == Secret("kept"), "a stored secret is another one")
    let signal = Cancellation()
    signal.cancel()
    try Cancellation.$current.withValue(signal) {
      try expect(.canceled, of: "reading when cancelled") { _ = try secret(password()) }
      try expect(.canceled, of: "reading a secret alone when cancelled") {
        _ = try storage.secret(for: password())
      }
      try expect(.canceled, of: "saving when cancelled") { try save("lost", password()) }
      try expect(.canceled, of: "removing when cancelled") { try storage.remove(password()) }
    }
    try expectStored("kept", password(), "after cancelled calls")
  }

  func progressEndsWithItsQuery() throws {
    for account in ["one", "two", "three"] { try save(account, password(account)) }
    let reports = Mutex<[(completed: Int, total: Int)]>([])
    var query = ItemQuery.service(service)
    query.onProgress = { completed, total in
      reports.withLock { $0.append((completed, total)) }
    }
    let count = try storage.items(matching: query).count
    try expect(count == 3, "a search that tells its progress found \(count) items of 3")
    let told = reports.withLock { $0 }
    for (completed, total) in told {
      try expect(
        (0...total).contains(completed),
        "a search told that it has looked at \(completed) of \(total)")
    }
    query.onProgress = nil
    for _ in 0..<3 { _ = try storage.items(matching: query) }
    let later = reports.withLock { $0.count }
    try expect(later == told.count, "a search told its progress after it had ended")
  }
}
