// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeyringStorage
import Synchronization
import TestPrograms
import Testing

/// The observers of a list, some of which wait.
@Suite(.timeLimit(.minutes(1)), .tags(.threads)) struct ObserverListTests {
  private let list = ObserverList()
  private let log = EventLog()

  private func key(_ number: Int) -> ItemKey { .password(service: "service", account: "\(number)") }

  /// Observes with a closure that waits at the first event.
  private func observe(
    waitingFor gate: DispatchSemaphore, _ isWaiting: DispatchSemaphore
  ) -> StorageSubscription {
    list.add { [log] event in
      if event == .locked {
        isWaiting.signal()
        gate.wait()
      }
      log.append(event)
    }
  }

  @Test func `an observer of one item isn't called for others, however many there are`() {
    let logs = (0..<100).map { _ in EventLog() }
    let subscriptions = logs.enumerated().map { number, log in
      list.add(log.append, matching: .key(key(number)))
    }
    let last = list.add(log.append, matching: nil)
    for number in logs.indices { list.report(.changed(.replaced(key(number)))) }
    // The end of a subscription drops the events that wait for a call.
    logs[0].wait(for: .changed(.replaced(key(0))))
    subscriptions[0].cancel()
    list.report(.changed(.removed(key(0))))
    for event in [.mayHaveChanged(nil), .locked] as [StorageEvent] { list.report(event) }
    for log in logs.dropFirst() + [log] { log.wait(for: .locked) }
    for (number, log) in logs.enumerated() {
      #expect(log.changes == [.replaced(key(number))])
      #expect(log.count == (number == 0 ? 1 : 3))
    }
    #expect(log.count == logs.count + 3)
    for subscription in subscriptions + [last] { subscription.cancel() }
    #expect(list.isEmpty)
  }

  @Test func `each observer gets all events of many threads in their order`() {
    let logs = (0..<3).map { _ in EventLog() }
    let subscriptions = logs.map { list.add($0.append) }
    let reported = Mutex<[ItemChange]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<500 {
        let change = ItemChange.replaced(key(thread * 500 + number))
        reported.withLock { reported in
          reported.append(change)
          list.collect(.changed(change))
        }
        list.deliver()
      }
    }
    #expect(waitUntil { logs.allSatisfy { $0.count == 2_000 } })
    for log in logs { #expect(log.changes == reported.withLock { $0 }) }
    for subscription in subscriptions { subscription.cancel() }
  }

  /// Each of two threads reports to the other one's observers.
  @Test func `calls of the library come in order, one at a time, and never wait for each other`() {
    final class Lists: Sendable {
      let lists = [ObserverList(), ObserverList()]
      let count = Mutex(0)
      let seen = Mutex<[StorageEvent]>([])
      let current = Atomic(0)

      func see(_ event: StorageEvent) {
        let others = current.add(1, ordering: .acquiringAndReleasing).oldValue
        #expect(others == 0)
        seen.withLock { $0.append(event) }
        lists[1].report(.locked)
        current.subtract(1, ordering: .acquiringAndReleasing)
      }
    }
    let all = Lists()
    let subscriptions = [
      all.lists[0].addForLibrary { all.see($0) },
      all.lists[1].addForLibrary { _ in all.lists[0].deliver() },
    ]
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for _ in 0..<500 {
        all.count.withLock { count in
          count += 1
          all.lists[0].collect(.changing(key(count)))
        }
        all.lists[thread % 2].deliver()
        all.lists[0].deliver()
      }
    }
    #expect(all.seen.withLock { $0 } == (1...2_000).map { .changing(key($0)) })
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test func `an observer that waits delays only its own events, which don't grow in number`() {
    let (gate, isWaiting) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let subscription = observe(waitingFor: gate, isWaiting)
    let count = Atomic(0)
    let other = list.add { _ in count.add(1, ordering: .relaxed) }
    list.report(.locked)
    #expect(isWaiting.wait(timeout: .now() + 30) == .success)
    let events: [StorageEvent] =
      [.changing(key(1)), .interrupted, .settled(key(1)), .changing(nil), .resumed, .interrupted]
      + (0..<25_000).map { .changed(.created(key($0))) }
    for index in events.indices {
      list.report(events[index])
      // The other observer isn't late.
      if index.isMultiple(of: 1_000) {
        #expect(waitUntil { count.load(ordering: .relaxed) == index + 2 })
      }
    }
    gate.signal()
    let last = ItemChange.created(key(-1))
    list.report(.changed(last))
    log.wait(for: .changing(nil))
    log.wait(for: .interrupted)
    log.wait(for: .mayHaveChanged(nil))
    #expect(waitUntil { log.changes.last == last })
    #expect(log.count < 10_010)
    subscription.cancel()
    other.cancel()
  }

  @Test func `an observer gets no event that waits when its subscription ends`() {
    let (gate, isWaiting) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let subscription = observe(waitingFor: gate, isWaiting)
    list.report(.locked)
    #expect(isWaiting.wait(timeout: .now() + 30) == .success)
    list.report(.interrupted)
    subscription.cancel()
    gate.signal()
    log.wait(for: .locked)
    #expect(list.isEmpty)
    let other = observe(waitingFor: gate, isWaiting)
    list.report(.resumed)
    log.wait(for: .resumed)
    #expect(log.count == 2)
    other.cancel()
  }

  @Test func `an observer may end its own subscription and observe again`() {
    let subscriptions = Mutex<[StorageSubscription]>([])
    subscriptions.withLock {
      $0.append(
        list.add { [list, log] event in
          let old = subscriptions.withLock { subscriptions in
            let old = subscriptions
            subscriptions = [list.add(log.append)]
            return old
          }
          for subscription in old { subscription.cancel() }
          log.append(event)
        })
    }
    list.report(.locked)
    log.wait(for: .locked)
    list.report(.interrupted)
    log.wait(for: .interrupted)
    #expect(log.count == 2)
    subscriptions.withLock { $0 = [] }
    #expect(list.isEmpty)
  }

  @Test func `a closure of the library is called before the report returns`() throws {
    let storage = ReportingStorage()
    let events = Mutex<[StorageEvent]>([])
    let subscription = try storage.observeForLibrary(nil) { event in
      events.withLock { $0.append(event) }
    }
    for event in [StorageEvent.locked, .interrupted, .resumed] {
      storage.observers.report(event)
      #expect(events.withLock(\.last) == event)
    }
    subscription.cancel()
    storage.observers.report(.locked)
    #expect(events.withLock(\.count) == 3)
  }
}
