// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// A name on the bus that stands for a turn.
///
/// The bus has a queue for the name, and takes the name from a program that ends (Decisions/0003).
final class BusTurn: Sendable {
  private enum Place {
    /// Nothing is known to be in the queue.
    case outside
    case requested
    case waiting
    case first
    case refused(DBusError)
  }

  let name: String
  private let state = Mutex<(place: Place, connection: BusConnection?)>((.outside, nil))

  init(_ name: String) { self.name = name }

  /// The bus's error for a name that this program may not own, or `nil`.
  var refusal: DBusError? {
    state.withLock { if case .refused(let error) = $0.place { error } else { nil } }
  }

  /// Whether this program has its turn.
  var isFirst: Bool { state.withLock { if case .first = $0.place { true } else { false } } }

  /// Whether another program has its turn.
  var isWaiting: Bool { state.withLock { if case .waiting = $0.place { true } else { false } } }

  /// Whether the connection that has the name is open.
  var isConnected: Bool { state.withLock(\.connection)?.isClosed == false }

  /// Sends the request for the name along with the next messages of an operation, and before them.
  ///
  /// If the turn is free, the answers to these messages are of a time in the turn.
  func request(with call: Operation) {
    giveBack()
    let connection = call.session.connection
    state.withLock { $0 = (.requested, connection) }
    call.companions.append((MethodCall.take(name), { self.record($0) }))
  }

  private func record(_ result: Result<Variant, DBusError>) {
    state.withLock { state in
      switch result {
      case .success(let answer):
        switch answer.child(0).number {
        case MethodCall.nameIsNew, MethodCall.nameIsOwned: state.place = .first
        case MethodCall.nameIsQueuedFor: state.place = .waiting
        default: state.place = .requested
        }
      case .failure(let error): state.place = error.remoteName == nil ? .requested : .refused(error)
      }
    }
  }

  /// Waits for the name.
  ///
  /// - Parameter deadline: The deadline of the wait.
  /// - Returns: `false` if the bus has ended, and its queue with it.
  /// - Throws: Only the error of a passed deadline or a cancelled task.
  func wait(until deadline: Deadline) async throws(DBusError) -> Bool {
    guard let connection = state.withLock(\.connection) else { return false }
    let arrival = SharedOutcome<Void>()
    let signal = BusSignal(
      sender: MethodCall.bus, interface: MethodCall.bus, member: "NameAcquired",
      firstArgument: name, isUnicast: true)
    let unsubscribe = connection.subscribe(to: signal) { _ in arrival.settle(()) }
    defer { unsubscribe() }
    // The name may have arrived before the subscription.
    for result in try await connection.send([.take(name)], to: nil, until: deadline) {
      record(result)
    }
    while isWaiting, !connection.isClosed {
      // No signal arrives here if the bus closes the connection, so the loop checks every second.
      let outcome = await arrival.wait(until: min(deadline.end, .now(plus: .seconds(1))))
      if outcome == .ended { state.withLock { $0.place = .first } }
      if outcome != .timedOut, let failure = outcome.failure { throw failure }
      if let failure = deadline.failure, isWaiting { throw failure }
    }
    return !connection.isClosed
  }

  /// Finds out whether this program still has the name.
  ///
  /// An operation on the same connection fails if the name is lost with it.
  func isHeld(in call: Operation) async -> Bool {
    guard let connection = state.withLock(\.connection) else { return false }
    if connection === call.session.connection { return true }
    let answers = try? await connection.send([.take(name)], to: nil, until: call.deadline)
    return (try? answers?[0].get())?.child(0).number == MethodCall.nameIsOwned
  }

  /// Leaves the queue, also as the first in it.
  ///
  /// The bus handles the messages of a connection in their order, so nothing waits for its answer. A request that
  /// follows on the same connection is a new one.
  func giveBack() {
    let connection = state.withLock { state in
      let connection = state.connection
      state = (.outside, nil)
      return connection
    }
    connection?.sendWithoutAnswer(.giveBack(name))
  }

  /// Returns a description of the program that has its turn.
  func holder() async -> String {
    let unknown = "one that can't be seen"
    guard let connection = state.withLock(\.connection),
      let answers = try? await connection.send(
        [.owner(of: name), .process(of: name)], to: nil, until: Deadline(after: .seconds(1))),
      let owner = try? answers[0].get()
    else { return unknown }
    return BusConnection.description(of: owner.child(0).text, process: try? answers[1].get())
  }
}

extension MethodCall {
  /// The answer to a request for a name that this program owns from then on.
  fileprivate static let nameIsNew: UInt32 = 1
  /// The answer to a request for a name that another program owns, and for which this one is queued.
  fileprivate static let nameIsQueuedFor: UInt32 = 2
  /// The answer to a request for a name that this program owns already.
  fileprivate static let nameIsOwned: UInt32 = 4

  /// Returns the name that a program owns in its turn to change an item.
  ///
  /// The hash is FNV-1a, so that all programs use the same one. Two keys of one hash only wait for each other.
  static func nameOfTurn(under key: ItemKey, in namespace: String) -> String {
    let hash = key.canonicalBytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
    return "\(namespace).Turn.k\(String(hash, radix: 36))"
  }

  /// Returns a call that makes this program the owner of a name, or the next one in the queue for it.
  static func take(_ name: String) -> MethodCall {
    toBus("RequestName", [.string(name), .unsigned32(0)], answer: "(u)")
  }

  /// Returns a call that ends the ownership of a name, and the wait for it.
  fileprivate static func giveBack(_ name: String) -> MethodCall {
    toBus("ReleaseName", [.string(name)], answer: "(u)")
  }
}
#endif
