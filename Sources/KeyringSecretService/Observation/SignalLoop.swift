// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime

/// The part of a change monitor that belongs to its thread.
///
/// It holds the connection, the items that signals have named, and the state that the provider reports.
final class SignalLoop {
  private let observations: Observations
  private let address: String?
  /// The time between two looks at items that may have changed silently, and the longest time of a change.
  private let lookInterval: Duration

  private var connection: BusConnection?
  private var subscriptions: [() -> Void] = []
  private var provider: Provider?
  /// `true` for as long as the owner that the bus has named owns the service.
  private var isOwnerCurrent = false
  /// The provider that was last recognized, which may have left.
  private var lastProvider: Provider?
  private var observed: [Int: ObservedCollection] = [:]
  private var signals = ItemSignals()
  private var announced = AnnouncedChanges()

  /// The wait before the next attempt to reach the bus or the provider.
  private var backoff = Backoff()
  /// `true` after a provider came or went since the last attempt began.
  ///
  /// The next attempt is due then, and a failure leaves the wait as it is.
  private var isDue = false
  /// The time at which items that may have changed silently are compared again.
  private var nextLook: Deadline

  init(for observations: Observations, at address: String?, lookingEvery interval: Duration) {
    (self.observations, self.address, lookInterval) = (observations, address, interval)
    nextLook = Deadline(after: interval)
  }

  /// Does the pending work, or waits until there is some.
  func runOnce(_ work: (requests: [Observations.Request], observers: Set<Int>)) async {
    observed = observed.filter { work.observers.contains($0.key) }
    if connection?.isUsable == false { disconnect() }
    for request in work.requests { await answer(request, among: work.requests) }
    var isIdle = work.requests.isEmpty
    if !announced.newSenders.isEmpty {
      await checkNewSenders()
      isIdle = false
    }
    endOverdueChanges()
    if nextLook.remaining == .zero {
      nextLook = Deadline(after: lookInterval)
      if provider?.changesSilently == true {
        for collection in observed.values { collection.lookAgain() }
      }
    }
    if backoff.isOver, !observed.isEmpty {
      if await resynchronize() { isIdle = false }
    }
    if !signals.isEmpty, provider != nil {
      await refreshChangedItems()
      isIdle = false
    }
    if isIdle {
      let next = isBroken ? backoff.deadline : nextLookNeeded
      let end = announced.inProgress.first?.end ?? next
      await observations.waitForWork(until: end.end < next.end ? end : next)
    }
  }

  /// The time of the next poll: only if the provider changes items silently and someone other than a cache observes.
  ///
  /// A cache has a lifetime for such changes.
  private var nextLookNeeded: Deadline {
    provider?.changesSilently == true && observed.values.contains { $0.query != nil }
      ? nextLook : .never
  }

  /// `true` if there is something to try again after a while.
  ///
  /// A missing provider is left alone, because it announces itself.
  private var isBroken: Bool {
    !observed.isEmpty
      && (connection == nil || provider != nil && observed.values.contains(where: \.needsReading))
  }

  // MARK: - Connection

  private func connect(until deadline: Deadline) async throws(SecretSession.OpeningFailure) {
    if connection?.isUsable == true { return }
    disconnect()
    do throws(DBusError) {
      let new = try await BusConnection.open(address: address, until: deadline)
      connection = new
      // The monitor calls disconnect(), which ends the subscriptions, before it releases the loop.
      subscriptions = [
        new.subscribe(to: .ownerChanged(of: MethodCall.secrets)) { [unowned self] _ in
          forgetProvider()
          // Look for another provider at once.
          backoff = Backoff()
          isDue = true
          observations.wake()
        },
        new.subscribe(to: .ofCollections) { [unowned self] in itemSignal($0) },
        new.subscribe(to: .ofService) { [unowned self] in collectionSignal($0) },
        new.subscribe(to: .unheard) { [unowned self] in unheardChange($0) },
        new.whenClosed { [observations] in observations.wake() },
      ]
    } catch {
      throw .init(connecting: error, to: address)
    }
  }

  /// Ends the subscriptions and drops the connection to the bus.
  func disconnect() {
    for unsubscribe in subscriptions { unsubscribe() }
    subscriptions = []
    forgetProvider()
    for sender in announced.removeAll() {
      for collection in observed.values { collection.changeEnds(nil, by: sender) }
    }
    connection = nil
  }

  /// Finds the provider of the service.
  private func findProvider(
    startingIt: Bool, until deadline: Deadline
  ) async throws(SecretSession.OpeningFailure) {
    if provider != nil { return }
    guard let connection else { throw .init(.noConnection) }
    do throws(DBusError) {
      let running = { () async throws(DBusError) in
        try await connection.provider(until: deadline) { [unowned self] in isOwnerCurrent = true }
      }
      var found: Provider
      repeat {
        found =
          try await startingIt
          ? connection.startingProvider(until: deadline, running) : running()
      } while !isOwnerCurrent
      // Set this before the next message. A signal that arrives in the meantime reports that the provider
      // has gone.
      provider = found
      found = try await connection.readyProvider(found, until: deadline)
      if provider != nil { recognize(found) }
    } catch {
      provider = nil
      throw await .init(opening: error, on: connection, until: deadline)
    }
  }

  /// Records the provider, and starts over with another keyring.
  private func recognize(_ found: Provider) {
    provider = found
    if let lastProvider, !found.isSameKeyring(as: lastProvider) {
      for collection in observed.values { collection.startOver() }
    }
    lastProvider = found
  }

  // MARK: - Signals

  private func forgetProvider() {
    provider = nil
    isOwnerCurrent = false
    // It may have died before its secrets were on disk.
    interruptAll(mayLoseSecrets: lastProvider?.delaysSecrets == true)
  }

  /// Drops the signals, so that everything is read again.
  private func interruptAll(mayLoseSecrets: Bool = false) {
    signals.removeAll()
    for collection in observed.values { collection.interrupt(mayLoseSecrets: mayLoseSecrets) }
  }

  private func itemSignal(_ signal: BusSignal.Arrival) {
    guard signal.arguments.isOfType("(o)") else { return }
    let kinds: ItemSignals.Kinds =
      switch signal.member {
      case "ItemCreated": .confirmed
      case "ItemDeleted": [.deleted, .confirmed]
      default: provider?.signalsLocksAsChanges == true ? [] : .confirmed
      }
    itemChanged(ObjectPath(signal.arguments.child(0).text), kinds)
  }

  /// Handles a signal of this package, which any program may send.
  private func unheardChange(_ signal: BusSignal.Arrival) {
    guard let (change, step) = Provider.SilentChange.of(signal.member) else { return }
    if step == .changing { return changeBegins(signal.object, by: signal.sender) }
    if step == .set, change == provider?.silentChange {
      itemChanged(signal.object, .announced)
    }
    if let change = announced.remove(signal.object, by: signal.sender) { end(change) }
  }

  private func end(_ change: AnnouncedChanges.Change) {
    for collection in observed.values { collection.changeEnds(change.item, by: change.sender) }
  }

  /// Ends the changes whose programs have let their time pass.
  private func endOverdueChanges() {
    while let change = announced.removeOverdue() {
      itemChanged(change.item, .announced)
      end(change)
    }
  }

  private func changeBegins(_ item: ObjectPath, by sender: String) {
    // An observation that begins later may concern the item, too.
    guard announced.begin(item, by: sender, until: Deadline(after: lookInterval)) else { return }
    let isNew = announced.watch(sender) {
      connection?.subscribe(to: .ownerChanged(of: sender)) { [unowned self] _ in senderLeft(sender)
      }
    }
    // The thread checks the program, or waits for the end of the change.
    if isNew || announced.inProgress.count == 1 { observations.wake() }
    for collection in observed.values { collection.changeBegins(item, by: sender) }
  }

  /// Ends the changes of programs that had left before the subscription to their end began.
  private func checkNewSenders() async {
    let senders = exchange(&announced.newSenders, with: [])
    let answers = try? await connection?.send(
      senders.map { .owner(of: $0) }, to: nil, until: Deadline(after: .seconds(25)))
    if answers == nil { announced.newSenders += senders }
    for (sender, answer) in zip(senders, answers ?? []) {
      if case .failure = answer { senderLeft(sender) }
    }
  }

  /// Ends the changes of a program that has left the bus, which may have been made.
  private func senderLeft(_ sender: String) {
    let changes = announced.removeAll(by: sender)
    if changes.isEmpty { return }
    for change in changes { itemChanged(change.item, .announced) }
    for collection in observed.values { collection.changeEnds(nil, by: sender) }
  }

  private func itemChanged(_ item: ObjectPath, _ kinds: ItemSignals.Kinds) {
    let concerned = observed.values.filter { $0.mayHave(item) }
    if concerned.isEmpty { return }
    for collection in concerned { collection.itemMayHaveChanged(item, kinds) }
    // Any program may send any number of signals.
    if signals.paths.count < Self.mostSignals {
      signals.add(item, kinds)
    } else {
      interruptAll()
    }
    observations.wake()
  }

  /// The maximum number of items that are read one by one.
  ///
  /// If there are more, all items are read again.
  private static let mostSignals = 1_000

  private func collectionSignal(_ signal: BusSignal.Arrival) {
    guard signal.arguments.isOfType("(o)") else { return }
    let path = ObjectPath(signal.arguments.child(0).text)
    let isThere = signal.member == "CollectionChanged"
    for collection in observed.values {
      collection.collectionMayHaveChanged(path, isThere: isThere)
    }
    observations.wake()
  }

  // MARK: - Reading

  private func answer(
    _ request: Observations.Request, among requests: [Observations.Request]
  ) async {
    let deadline = request.renewedDeadline
    do throws(SecretSession.OpeningFailure) {
      try await connect(until: deadline)
      try await findProvider(startingIt: true, until: deadline)
      let id = request.id
      let new = ObservedCollection(request.collection, request.query) { [observations] event in
        observations.report(event, to: id)
      }
      // Register the collection now, so that no signal is lost while its items are listed.
      observed[id] = new
      for change in announced.inProgress { new.changeBegins(change.item, by: change.sender) }
      do throws(DBusError) {
        _ = try await read(new, deadline) { [observations] in
          observations.extendWaits(for: requests)
        }
      } catch {
        observed[id] = nil
        throw .init(error)
      }
      request.outcome.settle(nil)
    } catch {
      request.outcome.settle(error)
    }
  }

  /// Reads the collections that signals alone can't keep up to date.
  ///
  /// - Returns: `true` if there was something to read.
  private func resynchronize() async -> Bool {
    let waiting = observed.values.filter(\.needsReading)
    if waiting.isEmpty { return false }
    isDue = false
    let deadline = Deadline(after: .seconds(25))
    do throws(SecretSession.OpeningFailure) {
      try await connect(until: deadline)
      try await findProvider(startingIt: false, until: deadline)
      var isComplete = true
      for collection in waiting {
        collection.readingBegins()
        // A read that fails for one collection may succeed for the next.
        if (try? await read(collection, deadline)) == true { continue }
        collection.readingFails()
        isComplete = false
      }
      if isComplete { backoff = Backoff() } else { retryLater() }
    } catch {
      retryLater()
    }
    return true
  }

  private func retryLater() {
    if !isDue { backoff.lengthen() }
  }

  private func read(
    _ collection: ObservedCollection, _ deadline: Deadline,
    whenRenewed: @escaping () -> Void = {}
  ) async throws(DBusError) -> Bool {
    var reading = try reading(deadline)
    reading.whenRenewed = whenRenewed
    reading.onAnswer = { collection.wasListed($0.object, after: self.signals.count) }
    var state = try await reading.state(of: collection.collection)
    // A collection that existed before may only be closed. Its items aren't lost.
    if state == nil, !reading.provider.listsAllCollections, let path = collection.path {
      state = ObservedCollection.State(path: path, isLocked: true)
    }
    // Some providers hide the items of a locked collection, and aren't asked for them.
    if let found = state, reading.provider.listsLockedItems || !found.isLocked,
      collection.needsItems(found)
    {
      let items = try await reading.items(of: found.path, for: collection.query)
      state = ObservedCollection.State(
        path: found.path, isLocked: found.isLocked || items == nil, items: items)
    }
    // If the provider has changed in the meantime, the answers are out of date.
    guard provider == reading.provider else { throw .noConnection }
    return collection.take(state, signals)
  }

  /// Reads the items that signals have named.
  private func refreshChangedItems() async {
    let deadline = Deadline(after: .seconds(25))
    var looked = signals
    signals.removeAll()
    isDue = false
    do throws(DBusError) {
      var reading = try reading(deadline)
      // A provider may send several signals for one change, one right after the other.
      reading.onAnswer = { self.signals.move($0.object, to: &looked) }
      // A provider that hides locked items may report them as deleted.
      let mayHideItems = !reading.provider.listsLockedItems
      let asked = looked.paths.filter { mayHideItems || !looked[$0].contains(.deleted) }
      let found = try await reading.items(at: asked)
      for collection in observed.values where !collection.isInterrupted {
        if mayHideItems, collection.contradicts(looked, found) {
          collection.interrupt()
        } else if mayHideItems, let path = collection.path, collection.lacks(looked, found),
          try await reading.lockState(of: path) != false
        {
          collection.hideItems()
        } else {
          collection.update(looked, found, before: signals)
        }
      }
    } catch {
      // The provider hangs, or it has left, which a signal also reports. Everything is read again then.
      for collection in observed.values { collection.interrupt() }
      retryLater()
    }
  }

  // MARK: - Messages

  private func reading(_ deadline: Deadline) throws(DBusError) -> CollectionReading {
    guard let connection, let provider else { throw .noConnection }
    return CollectionReading(provider: provider, connection: connection, deadline: deadline)
  }
}
#endif
