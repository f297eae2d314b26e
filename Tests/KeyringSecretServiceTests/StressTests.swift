// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import StorageModel
import Testing

@testable import KeyringSecretService

/// Many threads and several processes that use one keyring.
///
/// The tests have no sanitizer, because they look at other processes, and wait for them.
@Suite(.inPrivateSession, .tags(.stress, .unsanitized)) struct StressTests {
  private let service = PrivateSession.newService()
  /// The number of uses by each of eight threads, which is 2000 in `Scripts/stress`.
  private let uses = min(ModelRun.steps, 2000)

  /// Unlocks the keyring, because the workers don't ask the user.
  init() throws { try SecretServiceStorage().unlock() }

  @Test func `eight threads lose no writes`() throws {
    // The collection is in memory if possible. The file of the default collection would be written
    // some ten thousand times.
    let collection = Provider.current.fastestCollection
    try expectNothingLost(
      [Program.worker("mix", "\(collection)", service, "worker", "8", "\(uses)")],
      SecretServiceStorage(collection: collection))
  }

  @Test func `four processes lose no writes`() throws {
    try expectNothingLost(
      (0..<4).map {
        try Program.worker("mix", "default", service, "worker \($0)", "2", "\(uses / 4)")
      },
      SecretServiceStorage())
  }

  @Test func `a cold start of sixteen threads opens one session`() throws {
    let monitor = try BusMonitor()
    let (status, _) = try Program.worker("start", "16").finish()
    #expect(status == 0)
    let messages = try monitor.finish()
    #expect(messages.filter { $0 == "OpenSession" }.count == 1)
    #expect(messages.filter { $0 == "SearchItems" }.count >= 16)
  }

  /// Waits for the workers, and checks that the keyring has every write that it acknowledged.
  private func expectNothingLost(_ workers: [Program], _ storage: SecretServiceStorage) throws {
    let histories = try LinearizabilityLog.read(workers)
    let items = try storage.items(matching: .service(service, details: .secret))
    let values = LinearizabilityLog.values(of: items)
    #expect(Set(values.keys).isSubset(of: histories.keys))
    // The Secret Service has no "create if absent". See `SaveMode.add`.
    var exceptions: LinearizabilityLog.Exceptions = .lateRefusals
    if KnownLimitation.reason(.rewrittenItemsAreFound) != nil { exceptions.insert(.missedItems) }
    for (key, history) in histories {
      let violations = history.violations(last: values[key] ?? nil, except: exceptions)
      #expect(violations.isEmpty, "\(key) of \(histories.count) keys")
    }
    // If a secret is on disk later than its attributes, two items with former logins may stay.
    let isLate = try openSession().provider.delaysSecrets
    let superseded = isLate ? 2 * items.count { $0.key.kind == .credentials } : 0
    let stored = try countStoredItems(["service": service])
    #expect((items.count...items.count + superseded).contains(stored), "there are duplicates")
    #expect(try storage.removeItems(matching: .service(service)) == items.count)
    #expect(try countStoredItems(["service": service]) == 0)
  }
}
#endif
