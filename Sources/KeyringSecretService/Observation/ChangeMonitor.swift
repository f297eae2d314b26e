// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// A monitor that turns the provider's signals on one bus into events for observers.
///
/// The monitor has a connection and a thread while there are observers. Both end with the last observer.
/// Signals name only paths, so the monitor reads the items and collections afterwards: see ``SignalLoop``.
final class ChangeMonitor: Sendable {
  fileprivate let address: String?
  /// The time between two looks at items that may have changed silently, and the longest time of a change.
  private let lookInterval: Duration
  private let observations = Observations()

  private init(at address: String?, lookingEvery interval: Duration) {
    (self.address, lookInterval) = (address, interval)
  }

  private static let monitors = Mutex<[ChangeMonitor]>([])

  /// Returns the monitor of a bus, which a first call creates with this interval.
  static func shared(
    at address: String?, lookingEvery interval: Duration = .cacheLifetime
  ) -> ChangeMonitor {
    monitors.withLock { monitors in
      if let found = monitors.of(address) { return found }
      let new = ChangeMonitor(at: address, lookingEvery: interval)
      monitors.append(new)
      return new
    }
  }

  /// Notifies all observers on a bus that this process may have changed an item.
  ///
  /// Caches know of it before the call that writes returns, even if the call failed, because the write may have taken
  /// place.
  static func noteWrite(of key: ItemKey?, at address: String?) {
    monitors.withLock { $0.of(address) }?.observations.reportToAll(.mayHaveChanged(key))
  }

  /// Calls an observer for each event until the subscription ends.
  ///
  /// The observation has begun when this method returns.
  ///
  /// - Returns: The subscription.
  /// - Throws: The reason why the observation can't begin.
  func observe(
    _ collection: SecretServiceStorage.Collection, _ query: ItemQuery?, until deadline: Deadline,
    _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecretSession.OpeningFailure) -> StorageSubscription {
    if let failure = deadline.failure { throw .init(failure) }
    let list = ObserverList()
    let subscription = list.add(observer)
    let (request, mustStart) = observations.add(list, of: collection, query, until: deadline)
    if mustStart,
      let shortage = ThreadExecutor.startThread(named: "swift-keyring c", { self.run() })
    {
      observations.refuseRequests(DBusError(shortage))
    }
    observations.wake()
    do throws(SecretSession.OpeningFailure) {
      try await request.outcome.check(until: deadline)
    } catch {
      observations.remove(request.id)
      throw error
    }
    return StorageSubscription { [observations, id = request.id] in
      subscription.cancel()
      observations.remove(id)
    }
  }

  private func run() {
    do throws(DBusError) {
      try CallLoop.runToEnd(orThrow: \.self) { () async throws(DBusError) in
        let loop = SignalLoop(for: observations, at: address, lookingEvery: lookInterval)
        while let work = observations.nextWork() { await loop.runOnce(work) }
        loop.disconnect()
      }
    } catch {
      observations.refuseRequests(error)
    }
  }
}

extension [ChangeMonitor] {
  fileprivate func of(_ address: String?) -> ChangeMonitor? { first { $0.address == address } }
}
#endif
