// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Dispatch
package import KeyringStorage
internal import Synchronization
package import Testing

/// The events that an observer has received.
package final class EventLog: Sendable {
  private let events = Mutex<[StorageEvent]>([])
  /// The number of events that a test has waited for, so that each event counts once.
  private let seen = Mutex(0)
  private let arrival = DispatchSemaphore(value: 0)

  private let subscription = Mutex<StorageSubscription?>(nil)

  package init() {}

  /// Observes a storage until the log is released.
  package convenience init(of storage: some ObservableStorage, _ query: ItemQuery? = nil) throws {
    self.init()
    keep(try storage.observe(query) { [weak self] in self?.append($0) })
  }

  /// Observes a storage until the log is released.
  package convenience init(
    of storage: some ObservableStorage, _ query: ItemQuery? = nil
  ) async throws {
    self.init()
    keep(try await storage.observeWithoutBlocking(query) { [weak self] in self?.append($0) })
  }

  private func keep(_ new: StorageSubscription) { subscription.withLock { $0 = new } }

  /// The observer.
  package var append: @Sendable (StorageEvent) -> Void {
    { event in
      self.events.withLock { $0.append(event) }
      self.arrival.signal()
    }
  }

  package var count: Int { events.withLock(\.count) }

  /// The number of changes that programs have announced.
  package var changingCount: Int {
    events.withLock { events in
      events.count { if case .changing = $0 { true } else { false } }
    }
  }

  package var changes: [ItemChange] {
    events.withLock { events in
      events.compactMap { if case .changed(let change) = $0 { change } else { nil } }
    }
  }

  /// Waits for an event that comes after the last one that a test has waited for.
  package func wait(for event: StorageEvent, sourceLocation: SourceLocation = #_sourceLocation) {
    let end = DispatchTime.now() + 60
    while true {
      let found = events.withLock { events in
        seen.withLock { seen in
          guard let index = events[seen...].firstIndex(of: event) else { return false }
          seen = index + 1
          return true
        }
      }
      if found { return }
      if arrival.wait(timeout: end) == .timedOut {
        let all = events.withLock { $0 }
        Issue.record("there was no \(event) in \(all)", sourceLocation: sourceLocation)
        return
      }
    }
  }
}
#endif
