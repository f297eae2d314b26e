// SPDX-License-Identifier: Apache-2.0

import Contending
import Dispatch
import Keyring
import Observation
import Synchronization

/// Tracks properties with Observation, changes each of them, and waits until each reader has its new value.
struct Tracking: Work {
  let count: Int
  private var readers: [Reader] = []

  init(count: Int) { self.count = count }

  mutating func perform() {
    let storage = InMemoryStorage()
    let waiting = Waiting(for: count)
    readers = (0..<count).map { number in
      Reader(Password(Sample.account(number), storage: storage), waiting)
    }
    for (number, reader) in readers.enumerated() {
      reader.property.wrappedValue = Sample.password(number)
    }
    waiting.wait()
  }

  func check() throws { try Sample.check(readers.map(\.property.wrappedValue), count: count) }
}

/// A reader of one property, who reads again after each change.
private final class Reader: Sendable {
  let property: Password<String?>
  private let waiting: Waiting
  private let hasValue = Atomic(false)

  init(_ property: Password<String?>, _ waiting: Waiting) {
    (self.property, self.waiting) = (property, waiting)
    read()
  }

  private func read() {
    let value = withObservationTracking {
      property.wrappedValue
    } onChange: {
      Task { self.read() }
    }
    if value != nil, !hasValue.exchange(true, ordering: .relaxed) { waiting.arrive() }
  }
}

/// A wait for the first value of each reader.
private final class Waiting: Sendable {
  private let rest: Mutex<Int>
  private let isOver = DispatchSemaphore(value: 0)

  init(for count: Int) { rest = Mutex(count) }

  func arrive() {
    let isLast = rest.withLock { rest in
      rest -= 1
      return rest == 0
    }
    if isLast { isOver.signal() }
  }

  func wait() { isOver.wait() }
}
