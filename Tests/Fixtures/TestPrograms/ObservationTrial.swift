// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Foundation
import KeyringRuntime
package import KeyringStorage
internal import Synchronization
internal import Testing

/// Observers of one item, while writers and keyrings are killed.
///
/// They do what apps do: they read the item after they were notified of a change, and keep what they have read.
package final class ObservationTrial: Sendable {
  private struct State {
    var history: ObservationHistory
    /// The value that each observer has read last.
    var last: [String: String?] = [:]
    var interrupted: Set<String> = []

    mutating func take(_ entry: ObservationHistory.Entry) {
      history.append(entry)
      switch entry {
      case .read(let observer, let value): last[observer] = .some(value)
      case .told(let observer, .interrupted): interrupted.insert(observer)
      case .told(let observer, .resumed): interrupted.remove(observer)
      default: break
      }
    }
  }

  package let key: ItemKey
  private let reader: any SecureStorage
  private let state: Mutex<State>
  /// The tasks of the observers, which end with the trial.
  private let tasks = Mutex<[Task<Void, Never>]>([])
  private let subscriptions = Mutex<[StorageSubscription]>([])
  private let lastNumber = Mutex(0)

  /// Creates a trial without observers.
  ///
  /// - Parameters:
  ///   - key: The key of the item, a password.
  ///   - reader: A storage of the item without a cache.
  ///   - exceptions: The faults of the keyring that its observers can't be kept from.
  /// - Throws: An error if the item can't be read.
  package init(
    of key: ItemKey, on reader: any SecureStorage,
    except exceptions: ObservationHistory.Exceptions = []
  ) throws {
    (self.key, self.reader) = (key, reader)
    let first = ObservationHistory.Entry.rest(try reader.password(for: key))
    state = Mutex(State(history: ObservationHistory([first], except: exceptions)))
  }

  private func take(_ entry: ObservationHistory.Entry) { state.withLock { $0.take(entry) } }

  // MARK: - Observers

  /// Adds an observer of the events and one of the stream of changes.
  ///
  /// - Parameters:
  ///   - storage: The storage.
  ///   - name: A name for both.
  ///   - readsAlways: `true` to add a reader that also reads without being notified, as from a cache.
  /// - Throws: An error if the storage can't be observed.
  package func observe(
    _ storage: some ObservableStorage, as name: String, readsAlways: Bool = false
  ) async throws {
    try await observeEvents(of: storage, as: "\(name)'s observer")
    let changes = try await storage.changes(matching: .key(key))
    let stream = "\(name)'s stream"
    await read(storage, as: stream)
    run { [self] in for await _ in changes { await read(storage, as: stream) } }
    guard readsAlways else { return }
    run { [self] in
      while !Task.isCancelled {
        await read(storage, as: "\(name)'s reader")
        try? await Task.sleep(for: .microseconds(500))
      }
    }
  }

  private func observeEvents(of storage: some ObservableStorage, as name: String) async throws {
    let (events, continuation) = AsyncStream<StorageEvent>.makeStream()
    let subscription = try await storage.observeWithoutBlocking(.key(key)) {
      [weak self, key] event in
      // A storage may report more items than it was asked for.
      if case .changed(let change) = event, change.key != key { return }
      self?.take(.told(name, event))
      continuation.yield(event)
    }
    subscriptions.withLock { $0.append(subscription) }
    await read(storage, as: name)
    run { [self] in
      for await event in events {
        switch event {
        case .changed, .resumed: await read(storage, as: name)
        default: break
        }
      }
    }
  }

  private func run(_ body: @escaping @Sendable () async -> Void) {
    let task = Task { await body() }
    tasks.withLock { $0.append(task) }
  }

  /// Reads the item, and tries again while the storage fails.
  private func read(_ storage: some SecureStorage, as name: String) async {
    while !Task.isCancelled {
      do throws(SecureStorageError) {
        let value = try await storage.password(for: key)
        return state.withLock { state in
          // A reader that isn't notified reads the same value often.
          if state.last[name] != .some(value) { state.take(.read(name, value)) }
        }
      } catch {
        try? await Task.sleep(for: .milliseconds(1))
      }
    }
  }

  // MARK: - Writers

  /// Calls a closure in the middle of the writes of a thread.
  ///
  /// The writes end after the closure has returned, or with the first one that fails.
  package func whileWriting(
    to storage: some SecureStorage, _ body: () throws -> Void
  ) async throws {
    let isOver = Atomic(false)
    let count = Atomic(0)
    let writing = Task {
      while !isOver.load(ordering: .relaxed), await write(to: storage) {
        count.add(1, ordering: .relaxed)
        // A storage in memory never waits.
        await Task.yield()
      }
      isOver.store(true, ordering: .relaxed)
    }
    let enough = Int.random(in: 0..<20)
    _ = await waitUntil {
      isOver.load(ordering: .relaxed) || count.load(ordering: .relaxed) >= enough
    }
    // The moment in the next write is arbitrary.
    usleep(.random(in: 0..<3000))
    var failure: (any Error)?
    do { try body() } catch { failure = error }
    isOver.store(true, ordering: .relaxed)
    await writing.value
    if let failure { throw failure }
  }

  /// Writes the next value, or removes the item.
  ///
  /// - Returns: `true` if the storage has acknowledged it.
  private func write(to storage: some SecureStorage) async -> Bool {
    let number = lastNumber.withLock { number in
      number += 1
      return number
    }
    let value = number.isMultiple(of: 7) ? nil : "\(number)"
    do throws(SecureStorageError) {
      try await storage.setPassword(value, for: key)
      take(.wrote(value, .acknowledged))
      return true
    } catch {
      let refusals: [SecureStorageError.Code] = [
        .noProvider, .noSessionBus, .locked, .noDefaultCollection,
      ]
      take(.wrote(value, refusals.contains(error.code) ? .failed : .unknown))
      return false
    }
  }

  /// Kills `KeyringWorker replace` at any moment of its writes.
  package func kill(_ writer: Program) throws {
    _ = try writer.readLine()
    var lines = [try writer.readLine()]
    try writer.writeLine("go")
    usleep(.random(in: 0..<20_000))
    lines += String(decoding: try writer.end(), as: UTF8.self).split(separator: "\n").map(
      String.init)
    let numbers = try lines.map(Kills.number)
    wrote(numbers, .acknowledged)
    wrote([(numbers.last ?? 0) + 1], .unknown)
  }

  /// Takes down that another process has written numbers.
  package func wrote(_ numbers: some Sequence<Int>, _ outcome: ObservationHistory.Outcome) {
    for number in numbers {
      take(.wrote("\(number)", outcome))
      lastNumber.withLock { $0 = max($0, number) }
    }
  }

  // MARK: - Rests

  /// Waits until every observer has followed, and looks for faults.
  ///
  /// - Parameter time: The time that the observers have.
  /// - Throws: An error if there is a fault, which is an issue of the test.
  package func rest(within time: Duration = .seconds(30)) async throws {
    var last: String??
    let isAtRest = await waitUntil(within: time) {
      // A keyring that has just started may not be ready.
      guard let value = try? Optional.some(reader.password(for: key)) else { return false }
      last = value
      return state.withLock { state in
        guard state.interrupted.isEmpty, state.last.allSatisfy({ $0.value == value }) else {
          return false
        }
        state.take(.rest(value))
        return true
      }
    }
    if !isAtRest { take(.rest(try #require(last, "the item can't be read"))) }
    let history = state.withLock { $0.history }
    let faults = history.faults()
    try #require(faults.isEmpty, "\(faults) in \(history.entries.suffix(100))")
  }

  /// Ends the observations, and prints how much there was to observe.
  package func end() {
    for task in tasks.withLock({ exchange(&$0, with: []) }) { task.cancel() }
    for subscription in subscriptions.withLock({ exchange(&$0, with: []) }) {
      subscription.cancel()
    }
    let counts = state.withLock { state in
      state.history.entries.reduce(into: (writes: 0, events: 0, reads: 0)) { counts, entry in
        switch entry {
        case .wrote: counts.writes += 1
        case .told: counts.events += 1
        case .read: counts.reads += 1
        case .rest: break
        }
      }
    }
    print("\(counts.writes) writes: \(counts.events) events, \(counts.reads) values were read")
  }
}
#endif
