// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

extension ItemWatch {
  /// Adds an observer, the first of which starts the watch.
  ///
  /// - Parameters:
  ///   - operation: The operation that observes.
  ///   - observer: The closure to call with every event.
  /// - Returns: The subscription. With the last one, the watch ends.
  /// - Throws: `SecureStorageError` from the cluster.
  func observe(
    _ operation: FleetOperation, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    let outcome = await starting.take(until: operation.end)
    guard outcome == .ended else {
      throw operation.fleet.settings.error(outcome == .canceled ? .canceled : .timedOut)
    }
    defer { starting.giveBack() }
    var subscription: StorageSubscription?
    var wasInterrupted = false
    repeat {
      // Otherwise, the observer would hear of all items when they're listed again. It may not have heard yet of what was
      // reported.
      subscription = nil
      if !isRunning { try await start(operation) }
      subscription = reporting.withLock { _ in
        let event: StorageEvent? =
          isConnected ? wasInterrupted ? .resumed : nil : .interrupted
        wasInterrupted = !isConnected
        return observers.add(observer, reporting: event)
      }
      // Another observer, the last one, may just have left.
    } while !isRunning
    // The subscription keeps the state of the storage, and with it the watch.
    return StorageSubscription { [fleet = operation.fleet, subscription] in
      subscription?.cancel()
      self.endWithoutObservers()
      withExtendedLifetime(fleet) {}
    }
  }

  private func start(_ operation: FleetOperation) async throws(SecureStorageError) {
    // What an earlier watch still reports must not follow the list.
    if let outcome = await state.withLock(\.ended)?.wait(until: operation.end), outcome != .ended {
      throw operation.fleet.settings.error(outcome == .canceled ? .canceled : .timedOut)
    }
    try await list(operation.readableParts(of: range), operation)
    // An observer of the watch before it may still be there.
    report(isConnected: true)
    let (client, ended) = (operation.client, SharedOutcome<Void>())
    // The first observer's task-local values don't belong to the others. No thread of the app's has to be free.
    let task = Task.detached(executorPreference: EventLoopExecutor.streaming) {
      [weak self, weak fleet = operation.fleet] in
      defer {
        self?.forgetItems()
        ended.settle(())
      }
      var pause = Self.shortestPause
      while !Task.isCancelled, let conditions = fleet?.keys.current?.conditions,
        let (parts, end, renewal) = self?.begin(conditions)
      {
        let isRenewal = await client.watch(
          parts, while: conditions, until: end, or: renewal
        ) { [weak self, weak fleet] part, reply in
          guard let self, let fleet else { return false }
          return await self.take(reply, of: part, fleet)
        }
        // Changes may be missing until the next watch begins.
        fleet?.items.forgetReports()
        if Task.isCancelled { return }
        if self?.isConnected == true { pause = Self.shortestPause }
        var isLost = !isRenewal
        var error: SecureStorageError?
        repeat {
          if isLost {
            self?.report(isConnected: false)
            // A node takes long to check a password.
            let isRefused = error?.isRefusedPassword == true
            pause = min(pause, isRefused ? Self.longestPauseOfRefused : Self.longestPause)
            // Machines that have lost a node at the same moment don't come back at the same moment.
            let moment = ThreadExecutor.now + .random(in: pause / 2...pause)
            _ = await Waiter.wait(until: moment) { _ in }
            pause *= 2
          }
          // The storage isn't held during the pause.
          guard !Task.isCancelled, let self, let fleet else { return }
          error = await self.synchronize(fleet)
          isLost = error != nil
        } while isLost
      }
    }
    state.withLock { ($0.task, $0.ended) = (task, ended) }
  }

  /// Returns what to watch, with the first revision of each part, and the moment to stop.
  ///
  /// The watch begins with a revision that was seen, whose events are dropped. A watch from the next one on would
  /// miss a removal up to which etcd 3.4.23 has just compacted the history: etcd issue 18089.
  private func begin(
    _ conditions: [Transaction.Comparison]
  ) -> ([EtcdRange: Int64], end: Int64, SharedOutcome<Void>) {
    state.withLock { state in
      (state.begun, state.renewal, state.conditions) = ([], SharedOutcome(), conditions)
      return (state.parts, state.nextList, state.renewal)
    }
  }

  /// The shortest time between two attempts to watch, in microseconds.
  private static let shortestPause: Int64 = 50_000
  private static let longestPause: Int64 = 2_000_000
  private static let longestPauseOfRefused: Int64 = 60_000_000

  // MARK: - Events

  /// Takes a message of the watch, and returns `false` to list the items again.
  private func take(_ reply: WatchReply, of part: EtcdRange, _ fleet: Fleet) async -> Bool {
    // A cluster that was restored from a backup has an older revision.
    let known = state.withLock { $0.parts[part] ?? .max }
    if reply.isCanceled || reply.revision < known { return false }
    guard reply.events.allSatisfy({ part.contains($0.value.key) }) else { return false }
    let events = reply.events.filter { $0.value.revision > known }
    if reply.isCreated {
      let isComplete = state.withLock { state in
        state.begun.insert(part)
        return state.begun.count == state.parts.count
      }
      if isComplete { report(isConnected: true) }
    }
    for event in events {
      if event.isRemoval {
        fleet.items.see(event.value.revision)
        remove(event.value.key)
      } else if let item = await item(event.value, fleet) {
        // An older data key may have been removed by now, so a value that needs it is read from the cluster.
        if fleet.keys.current?.isCurrent(event.value) == true {
          fleet.items.report(event.value)
        } else {
          fleet.items.see(event.value.revision)
        }
        put(Seen(item), event.value.key)
      } else {
        fleet.items.see(event.value.revision)
        reportUnreadable()
      }
    }
    // Other changes of the last revision may follow in another message.
    if let last = events.last?.value.revision {
      state.withLock { $0.parts[part] = max(known, last - 1) }
    }
    return true
  }

  /// Decrypts an item, with new keys at need.
  private func item(_ value: KeyValue, _ fleet: Fleet) async -> FleetItem? {
    if let item = try? fleet.keys.current?.open(value) { return item }
    await refreshKeys(fleet)
    if let item = try? fleet.keys.current?.open(value) { return item }
    // If the keys aren't those of the cluster, the next question to the node ends the watch.
    keyRefresh.postpone()
    return nil
  }

  /// Reads the keys from the cluster, and waits for them for a moment.
  private func refreshKeys(_ fleet: Fleet) async {
    guard let (read, isNew) = keyRefresh.read() else { return }
    if isNew {
      Task(executorPreference: EventLoopExecutor.streaming) { [keyRefresh] in
        _ = try? await FleetOperation.perform(.observe, on: fleet) {
          (operation) throws(SecureStorageError) in try await operation.readKeys()
        }
        keyRefresh.end(read)
      }
    }
    await read.wait()
  }
}
#endif
