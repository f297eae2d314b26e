#if SecretService && os(Linux)
internal import KeyringStorage

/// The part of a ``ChangeReporter`` that belongs to its thread: the connection, what its signals were
/// about, and what the provider says when it is asked.
final class SignalReader {
  private let reporter: ChangeReporter
  private let address: String?

  private var connection: BusConnection?
  private var subscriptions: [() -> Void] = []
  private var provider: Provider?
  private var observed: [Int: ObservedCollection] = [:]
  private var signals = ItemSignals()
  /// How long to wait before the next try to reach bus or provider.
  private var pause = Pause()
  /// Whether a provider has come or gone since the last try began, so that the next one is due.
  private var isDue = false

  init(of reporter: ChangeReporter, at address: String?) {
    (self.reporter, self.address) = (reporter, address)
  }

  /// Does what there is to do, or waits until there is something.
  func turn(_ work: (requests: [ChangeReporter.Request], observers: Set<Int>)) async {
    observed = observed.filter { work.observers.contains($0.key) }
    if connection?.isClosed == true { disconnect() }
    for request in work.requests { await answer(request) }
    var isIdle = work.requests.isEmpty
    if pause.isOver, !observed.isEmpty {
      if await bridge() { isIdle = false }
    }
    if !signals.isEmpty, provider != nil {
      await lookAtItems()
      isIdle = false
    }
    if isIdle { await reporter.waitForWork(until: isBroken ? pause.deadline : .never) }
  }

  /// Ends all that has to do with the bus.
  func close() { disconnect() }

  /// Whether there is something to be tried again after a while; a provider announces itself.
  private var isBroken: Bool {
    !observed.isEmpty
      && (connection == nil || provider != nil && observed.values.contains(where: \.needsReading))
  }

  // MARK: - Connection

  private func connect(until deadline: Deadline) async throws(SecretSession.OpeningFailure) {
    if let connection, !connection.isClosed { return }
    disconnect()
    do throws(BusFailure) {
      let new = try await BusConnection.open(address: address, until: deadline)
      connection = new
      subscriptions = [
        new.subscribe(to: .ownerChanged(of: Message.secrets)) { [unowned self] _ in
          forgetProvider()
          // Whether there is another is asked at once.
          pause = Pause()
          isDue = true
          reporter.wake()
        },
        new.subscribe(to: .ofCollections) { [unowned self] in
          itemSignal($0)
          reporter.wake()
        },
        new.subscribe(to: .ofService) { [unowned self] in
          collectionSignal($0)
          reporter.wake()
        },
        new.subscribe(to: .unheard) { [unowned self] in
          unheardChange($0)
          reporter.wake()
        },
        new.whenClosed { [reporter] in reporter.wake() },
      ]
    } catch {
      throw .init(connecting: error)
    }
  }

  private func disconnect() {
    for unsubscribe in subscriptions { unsubscribe() }
    subscriptions = []
    connection = nil
    forgetProvider()
  }

  /// Finds who provides the service.
  private func findProvider(
    startingIt: Bool, until deadline: Deadline
  ) async throws(SecretSession.OpeningFailure) {
    if provider != nil { return }
    guard let connection else { throw .init(.noConnection) }
    do throws(BusFailure) {
      if startingIt {
        _ = try? await send(.start(Message.secrets), to: Message.bus, deadline).get()
      }
      let owner = try await send(.owner(of: Message.secrets), to: Message.bus, deadline).get()
        .child(0).text
      // Before the next question: a signal that comes meanwhile tells that it has gone.
      provider = Provider(owner, owners: [:])
      let owners = try await owners(of: Provider.names, deadline)
      if provider != nil { provider = Provider(owner, owners: owners) }
    } catch {
      provider = nil
      throw await .init(opening: error, on: connection, until: deadline)
    }
  }

  private func owners(
    of names: [String], _ deadline: Deadline
  ) async throws(BusFailure) -> [String: String] {
    guard let connection else { throw .noConnection }
    let answers = try await connection.send(
      names.map { .owner(of: $0) }, to: Message.bus, until: deadline)
    var owners: [String: String] = [:]
    for (name, answer) in zip(names, answers) { owners[name] = try? answer.get().child(0).text }
    return owners
  }

  // MARK: - Signals

  private func forgetProvider() {
    provider = nil
    signals.removeAll()
    for collection in observed.values { collection.interrupt() }
  }

  private func itemSignal(_ signal: BusSignal.Arrival) {
    guard signal.arguments.isOfType("(o)") else { return }
    let isDeleted = signal.member == "ItemDeleted"
    itemChanged(
      ObjectPath(signal.arguments.child(0).text), isDeleted: isDeleted,
      isCertain: isDeleted || signal.member == "ItemCreated"
        || provider?.signalsLocksAsChanges != true)
  }

  private func unheardChange(_ signal: BusSignal.Arrival) {
    guard let change = provider?.silentChange, signal.member == change.rawValue else { return }
    itemChanged(signal.object, isDeleted: false, isCertain: true)
  }

  private func itemChanged(_ item: ObjectPath, isDeleted: Bool, isCertain: Bool) {
    let concerned = observed.values.filter { $0.mayHave(item) }
    if concerned.isEmpty { return }
    for collection in concerned { collection.itemMayHaveChanged(item) }
    // Any program may send any number of signals.
    if signals.paths.count < Self.mostSignals {
      signals.add(item, isDeleted: isDeleted, isCertain: isCertain)
    } else {
      signals.removeAll()
      for collection in observed.values { collection.interrupt() }
    }
  }

  /// How many items are looked at one by one; beyond that all are read again.
  private static let mostSignals = 1_000

  private func collectionSignal(_ signal: BusSignal.Arrival) {
    guard signal.arguments.isOfType("(o)") else { return }
    // One that comes or goes may be what the name of another stands for.
    let path = ObjectPath(signal.arguments.child(0).text)
    for collection in observed.values {
      collection.collectionMayHaveChanged(signal.member == "CollectionChanged" ? path : nil)
    }
  }

  // MARK: - Looking

  private func answer(_ request: ChangeReporter.Request) async {
    do throws(SecretSession.OpeningFailure) {
      try await connect(until: request.deadline)
      try await findProvider(startingIt: true, until: request.deadline)
      let id = request.id
      let new = ObservedCollection(request.collection, request.query) { [reporter] event in
        reporter.report(event, to: id)
      }
      // Known from here on, so that no signal is lost while the items are listed.
      observed[id] = new
      do throws(BusFailure) {
        _ = try await read(new, isFirst: true, request.deadline)
      } catch {
        observed[id] = nil
        throw .init(error)
      }
      reporter.answer(request, .success(()))
    } catch {
      reporter.answer(request, .failure(error))
    }
  }

  /// Reads again what signals do not tell.
  ///
  /// - Returns: Whether there was something to read.
  private func bridge() async -> Bool {
    let waiting = observed.values.filter(\.needsReading)
    if waiting.isEmpty { return false }
    isDue = false
    let deadline = Deadline(after: .seconds(25))
    do throws(SecretSession.OpeningFailure) {
      try await connect(until: deadline)
      try await findProvider(startingIt: false, until: deadline)
      var isComplete = true
      for collection in waiting {
        collection.needsReading = false
        // What fails for one collection may go well for the next.
        if (try? await read(collection, isFirst: false, deadline)) == true { continue }
        collection.needsReading = true
        isComplete = false
      }
      if isComplete { pause = Pause() } else { retryLater() }
    } catch {
      retryLater()
    }
    return true
  }

  private func retryLater() {
    if !isDue { pause.lengthen() }
  }

  private func read(
    _ collection: ObservedCollection, isFirst: Bool, _ deadline: Deadline
  ) async throws(BusFailure) -> Bool {
    var reading = try reading(deadline)
    reading.onAnswer = { collection.wasListed($0.object, after: self.signals.count) }
    var state = try await reading.state(of: collection.collection)
    // A collection that was there and may only be closed has lost nothing.
    if state == nil, !reading.provider.listsAllCollections, let path = collection.path {
      state = ObservedCollection.State(path: path, isLocked: true)
    }
    if let found = state, collection.needsItems(found, isFirst: isFirst) {
      state?.items = try await reading.items(of: found.path, for: collection.query)
    }
    // What another provider has said meanwhile is out of date.
    guard provider == reading.provider else { throw .noConnection }
    return collection.take(state, signals, isFirst: isFirst)
  }

  /// Asks what became of the items that signals were about.
  private func lookAtItems() async {
    let deadline = Deadline(after: .seconds(25))
    var looked = signals
    let present = looked.paths.filter { !looked.isDeleted($0) }
    signals.removeAll()
    isDue = false
    do throws(BusFailure) {
      var reading = try reading(deadline)
      // KWallet 5.103 sends up to four signals for one change, one right after the other.
      reading.onAnswer = { self.signals.move($0.object, to: &looked) }
      let found = try await reading.properties(of: present)
      for collection in observed.values where !collection.isInterrupted {
        collection.update(looked, found)
      }
    } catch {
      // The provider has gone, which is signaled as well, or hangs. Everything is read again then.
      for collection in observed.values { collection.interrupt() }
      retryLater()
    }
  }

  // MARK: - Messages

  private func reading(_ deadline: Deadline) throws(BusFailure) -> CollectionReading {
    guard let connection, let provider else { throw .noConnection }
    return CollectionReading(provider: provider, connection: connection, deadline: deadline)
  }

  private func send(
    _ message: Message, to receiver: String, _ deadline: Deadline
  ) async throws(BusFailure) -> Result<Variant, BusFailure> {
    guard let connection else { throw .noConnection }
    return try await connection.send([message], to: receiver, until: deadline)[0]
  }
}
#endif
