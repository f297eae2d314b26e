// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
public import KeyringStorage
internal import Synchronization

extension SecretServiceStorage {
  /// The queues of this process, because the bus has only one place in its queue for each connection.
  static let turns = KeyQueue()

  /// Waits for a turn among all programs on the bus.
  ///
  /// A turn stays where the keyring restarts. It's lost with the bus.
  public nonisolated(nonsending) func takeTurnWithoutBlocking(
    for key: ItemKey, details: ItemQuery.Details, timeout: Duration?
  ) async throws(SecureStorageError) -> any ItemTurn {
    try validate(.key(key, details: details), for: .takeTurn)
    let deadline = Deadline(after: timeout ?? longestAdditionTurn)
    let turn = BusTurn(try nameOfTurn(under: key))
    try await join(Self.turns, key, until: deadline.end)
    do throws(SecureStorageError) {
      while true {
        let item = try await find(key, details, requesting: turn)
        if turn.isFirst { return KeyringTurn(self, key, details, turn, found: item) }
        if turn.isWaiting, try await wait(for: turn, until: deadline), turn.isFirst {
          return KeyringTurn(self, key, details, turn, found: nil)
        }
        if let refusal = turn.refusal { throw error(ofRefusal: refusal) }
        // The bus has ended.
        if let failure = deadline.failure { throw error(failure, during: .takeTurn) }
      }
    } catch {
      turn.giveBack()
      Self.turns.leave(key)
      throw error
    }
  }

  /// The longest time that an addition waits for the turns of others before it goes on without one.
  private var longestAdditionTurn: Duration { options.serviceTimeout / 2 }

  private func find(
    _ key: ItemKey, _ details: ItemQuery.Details, requesting turn: BusTurn
  ) async throws(SecureStorageError) -> SecureItem? {
    try await perform(.read) { (call) async throws(SecureStorageError) in
      turn.request(with: call)
      return try await ItemFinder(call).items(for: [key], details)[key]
    }
  }

  /// Waits for a turn, and returns `false` if the bus has ended.
  @concurrent private func wait(
    for turn: BusTurn, until deadline: Deadline
  ) async throws(SecureStorageError) -> Bool {
    let failure = { error($0, during: .takeTurn) }
    return try await CallLoop.run(orThrow: failure) { () async throws(SecureStorageError) in
      do throws(DBusError) {
        return try await turn.wait(until: deadline)
      } catch {
        guard error.codeWhileCalling == .timedOut else { throw failure(error) }
        throw self.error(
          .timedOut, during: .takeTurn,
          message: "Another program keeps its turn to change this item: \(await turn.holder()).",
          recoverySuggestion: "End that program if it hangs, and try again.",
          underlying: error.underlying)
      }
    }
  }

  /// Adds an item in a turn, or without one if there can't be one in time.
  func add(_ item: SecureItem) async throws(SecureStorageError) {
    // In the closure of a turn, it could wait for another program that waits for that turn.
    let deadline = Deadline(after: CurrentTurn.isTaken ? .zero : longestAdditionTurn)
    let turn = BusTurn(try nameOfTurn(under: item.key))
    switch await Self.turns.join(item.key, until: deadline.end) {
    case .ended: break
    case .timedOut: return try await add(item, in: nil)
    case let wait: throw error(wait, during: .save, "")
    }
    defer {
      turn.giveBack()
      Self.turns.leave(item.key)
    }
    do throws(SecureStorageError) {
      return try await add(item, in: turn)
    } catch {
      // An addition that finds its turn taken ends before it adds anything.
      guard turn.isWaiting, error.code == .timedOut else { throw error }
    }
    do throws(SecureStorageError) {
      _ = try await wait(for: turn, until: deadline)
    } catch {
      guard error.code == .timedOut else { throw error }
    }
    try await add(item, in: nil)
  }

  private func add(_ item: SecureItem, in turn: BusTurn?) async throws(SecureStorageError) {
    try await perform(.save, lockedOn: item.key, mayRepeatWrites: false) {
      (call) async throws(SecureStorageError) in
      var writer = ItemWriter(call)
      turn?.request(with: call)
      writer.turn = turn
      try await writer.save(item, mode: .add)
    }
  }

  // MARK: - Names

  private func nameOfTurn(under key: ItemKey) throws(SecureStorageError) -> String {
    let namespace: String
    if let chosen = options.turnNamespace {
      guard chosen.isBusName else {
        throw error(
          .invalidArgument, during: .takeTurn,
          message: "The argument \"turnNamespace\" must be a name such as org.example.App.",
          argument: "turnNamespace")
      }
      namespace = chosen
    } else if case .flatpak(let app) = Sandbox.current(), app.isBusName {
      namespace = app
    } else {
      namespace = "org.swift_keyring"
    }
    return MethodCall.nameOfTurn(under: key, in: namespace)
  }

  private func error(ofRefusal refusal: DBusError) -> SecureStorageError {
    error(
      .accessDenied, during: .takeTurn,
      message: "The bus refuses the name that stands for a turn to change the item.",
      recoverySuggestion: """
        Set turnNamespace in the storage's options to a name that the program may own, such as the identifier of its \
        Flatpak.
        """, underlying: refusal.underlying)
  }
}

extension String {
  /// Whether the text is a name that programs can own on a bus, with room for more elements.
  fileprivate var isBusName: Bool {
    let elements = split(separator: ".", omittingEmptySubsequences: false)
    return elements.count > 1 && utf8.count <= 200
      && elements.allSatisfy { element in
        element.first.map { !$0.isNumber } == true
          && element.allSatisfy {
            $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "-" || $0 == "_"
          }
      }
  }
}

/// A turn to change an item of the keyring.
private final class KeyringTurn: ItemTurn {
  private let storage: SecretServiceStorage
  private let key: ItemKey
  private let details: ItemQuery.Details
  private let turn: BusTurn
  /// The item that was found with the request for the turn, up to its use.
  private let found: Mutex<SecureItem??>
  private let ending = SharedOutcome<Void>()

  init(
    _ storage: SecretServiceStorage, _ key: ItemKey, _ details: ItemQuery.Details,
    _ turn: BusTurn, found: SecureItem??
  ) {
    (self.storage, self.key, self.details, self.turn) = (storage, key, details, turn)
    self.found = Mutex(found)
  }

  func item() async throws(SecureStorageError) -> SecureItem? {
    if let known = found.withLock({ exchange(&$0, with: nil) }) { return known }
    return try await storage.perform(.read) { (call) async throws(SecureStorageError) in
      try await self.requireTurn(in: call)
      return try await ItemFinder(call).items(for: [self.key], self.details)[self.key]
    }
  }

  func save(
    _ item: SecureItem?, replacing old: SecureItem?
  ) async throws(SecureStorageError) -> Bool {
    if let item { try storage.validate(item) }
    defer { ChangeMonitor.noteWrite(of: key, at: storage.options.busAddress) }
    return try await storage.perform(item == nil ? .remove : .save, lockedOn: key) {
      (call) async throws(SecureStorageError) in
      try await self.requireTurn(in: call)
      var writer = ItemWriter(call)
      let expectation = Expectation(self.key, old, self.details)
      expectation.request(with: writer.finder)
      if let item {
        writer.expectation = expectation
        do throws(SecureStorageError) {
          // An addition notices one that takes no turn.
          try await writer.save(item, mode: old == nil ? .add : .addOrReplace)
        } catch {
          guard error.code == .itemAlreadyExists else { throw error }
          return false
        }
      } else {
        try await writer.remove(self.key, expecting: expectation)
      }
      return !expectation.isBroken
    }
  }

  private func requireTurn(in call: Operation) async throws(SecureStorageError) {
    if await turn.isHeld(in: call) { return }
    throw call.failure(.turnLost, "The message bus ended, and with it the turn to change the item.")
  }

  func whenLost(_ handler: @escaping @Sendable () -> Void) {
    // No signal of the end of a connection arrives in all of the loops that may wait here.
    _ = CallLoop.start { [turn, ending] in
      while await ending.wait(until: .now(plus: .seconds(1))) == .timedOut {
        if turn.isConnected { continue }
        return handler()
      }
    }
  }

  func end() async {
    ending.settle(())
    turn.giveBack()
    SecretServiceStorage.turns.leave(key)
  }
}
#endif
