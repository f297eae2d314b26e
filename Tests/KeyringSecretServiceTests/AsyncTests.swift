// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

/// Asynchronous calls, and tasks that are canceled in the middle of a call.
@Suite struct AsyncTests {
  @Test(.inPrivateSession) func `many concurrent calls all succeed`() async throws {
    let storage = SecretServiceStorage(collection: Provider.current.fastestCollection)
    let service = PrivateSession.newService()
    try await withThrowingTaskGroup { group in
      for number in 0..<100 {
        group.addTask {
          let key = ItemKey.password(service: service, account: "\(number)")
          try await storage.setPassword("s3cret \(number)", for: key)
          #expect(try await storage.password(for: key) == "s3cret \(number)")
        }
      }
      try await group.waitForAll()
    }
    #expect(try await storage.service(service).removeAll().count == 100)
  }

  @Test func `canceling ends a call to a socket that never answers`() async throws {
    var endedInTime = false
    for _ in 0..<5 where !endedInTime {
      let listener = try Listener()
      let storage = listener.storage()
      endedInTime = try await endsWhenCanceled(after: listener.waitForConnection) {
        _ = try await storage.password(for: .password(service: "service", account: "account"))
      }
    }
    #expect(endedInTime)
  }

  // This test runs in a process of its own, because other tests block the threads on which tasks
  // continue.
  @Test func `canceling ends one of many calls that wait`() async {
    await #expect(processExitsWith: .success) {
      let listener = try Listener()
      let storage = listener.storage(serviceTimeout: .seconds(30))
      let read: @Sendable () async throws -> Void = {
        _ = try await storage.password(for: .password(service: "service", account: "account"))
      }
      // If each call took a thread, so many calls would have to wait for one.
      let others = (0..<400).map { _ in Task { try await read() } }
      let start = ContinuousClock.now
      _ = try await endsWhenCanceled(after: { await Task.yield() }, read)
      // The call doesn't wait until the others time out.
      #expect(ContinuousClock.now - start < .seconds(15))
      for task in others { task.cancel() }
    }
  }
}
#endif
