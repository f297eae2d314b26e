// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime

// Changes that depend on the stored value. Callers take turns, and a comparison notices those who take none.

extension SecureStorage {
  /// Changes the value of a key in a turn.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - coding: The coding of the value.
  ///   - details: The details that `isDone` needs, besides those of the coding.
  ///   - timeout: The longest time to wait for the turn.
  ///   - isDone: A closure that returns `true` for an item that stays as it is.
  ///   - body: A closure that returns the new value, or `nil` to remove the item. It's called again if what it got was
  ///     changed meanwhile.
  /// - Returns: The value that is stored then, or `nil`, and whether this call has changed it.
  /// - Throws: The error of the closure, or `SecureStorageError`.
  package nonisolated(nonsending) func update<Value>(
    _ key: ItemKey, as coding: ItemCoding<Value>, details: ItemQuery.Details = [],
    timeout: Duration, unless isDone: (SecureItem?, Value?) -> Bool = { _, _ in false },
    _ body: (Value?) async throws -> Value?
  ) async throws -> (value: Value?, isChanged: Bool) {
    try refuseNestedTurn()
    if Task.isCancelled { throw error(.canceled, during: .takeTurn) }
    let start = KeyringEvent.Start()
    let turn = try await takeTurnWithoutBlocking(
      for: key, details: details.union(coding.details), timeout: timeout)
    KeyringEvent.report(.turnTaken(backend: backendName, since: start))
    var last: Value?
    let outcome = await Result { () async throws in
      try await update(in: turn) { old in
        let value: Value? = if let old { try coding.value(of: old, from: backendName) } else { nil }
        last = value
        if isDone(old, value) { return nil }
        let newValue = try await CurrentTurn.run { () async throws in
          try await turn.run { try await body(value) }
        }
        let new: SecureItem? =
          if let newValue { try item(for: key, as: coding, newValue) } else { nil }
        let areEqual = areEqual(value, newValue)
        // A value that knows its end has the same one again.
        let isSame =
          areEqual && coding.expires != nil
          || old.holds(new, isSame: areEqual, ifUnknown: false)
        return (new, isSame)
      }
    }
    await turn.end()
    let (stored, isChanged) = try outcome.get()
    guard let stored else { return (nil, isChanged) }
    return (isChanged ? try coding.value(of: stored, from: backendName) : last, isChanged)
  }

  /// Changes an item in a turn.
  ///
  /// It isn't generic, so that it's compiled once for the values of all types.
  ///
  /// - Parameters:
  ///   - turn: The turn.
  ///   - change: A closure that returns the new item and whether it's the same as the old one, or `nil` for an item that
  ///     stays as it is.
  /// - Returns: The item that is stored then, and whether this call has changed it.
  /// - Throws: The error of the closure, or `SecureStorageError`.
  private nonisolated(nonsending) func update(
    in turn: any ItemTurn,
    _ change: (SecureItem?) async throws -> (new: SecureItem?, isSame: Bool)?
  ) async throws -> (item: SecureItem?, isChanged: Bool) {
    var old = try await turn.item()
    for _ in 0..<Self.mostTurnAttempts {
      guard let (new, isSame) = try await change(old) else { return (old, false) }
      let (isStored, current) =
        isSame ? (false, try await turn.item()) : try await store(new, replacing: old, in: turn)
      if isSame, current.hasSameContent(as: old) { return (old, false) }
      // A call that failed before this one may have stored the value.
      if isStored || !isSame && current.holds(new, ifUnknown: true) { return (new, true) }
      if old != nil, current == nil { return (nil, false) }
      KeyringEvent.report(.updateRepeated(backend: backendName))
      old = current
    }
    throw outpaced
  }

  /// Stores the outcome of a turn, regardless of a cancellation, and again after an error that may pass.
  ///
  /// - Returns: Whether it was stored, and the item that is there instead.
  private nonisolated(nonsending) func store(
    _ item: SecureItem?, replacing old: SecureItem?, in turn: any ItemTurn
  ) async throws(SecureStorageError) -> (isStored: Bool, current: SecureItem?) {
    let outcome = await withoutCancellation {
      () -> Result<(isStored: Bool, current: SecureItem?), SecureStorageError> in
      var pause = Duration.milliseconds(50)
      let end = Int64.now(plus: Self.longestStore)
      while true {
        do throws(SecureStorageError) {
          if try await turn.save(item, replacing: old) { return .success((true, nil)) }
          return .success((false, try await turn.item()))
        } catch {
          guard error.code.mayPass, ThreadExecutor.now < end else { return .failure(error) }
          KeyringEvent.report(.operationRepeated(after: error))
        }
        _ = await Waiter.wait(until: .now(plus: pause)) { _ in }
        pause = min(pause * 2, .seconds(1))
      }
    }
    do throws(SecureStorageError) {
      return try outcome.get()
    } catch {
      var error = error
      error.message = "The new value couldn't be stored, and is lost. \(error.message)"
      throw error
    }
  }

  private func refuseNestedTurn() throws(SecureStorageError) {
    guard CurrentTurn.isTaken else { return }
    throw error(
      .invalidArgument, during: .takeTurn,
      message: "The closure of an update or a refresh must not begin another one.",
      recoverySuggestion:
        "Begin it before or after the other one, or store both values in one item.")
  }

  /// The error of a change that others keep undoing.
  fileprivate var outpaced: SecureStorageError {
    error(
      Waiter.Outcome.timedOut, during: .save,
      "Other programs kept changing the same item. The new value wasn't stored.")
  }

  /// The number of times that a change begins again with what others have stored.
  fileprivate static var mostTurnAttempts: Int { 8 }

  /// The time for which a store is tried again, in which a keyring may start again.
  private static var longestStore: Duration { .seconds(10) }
}

// MARK: - Values that are generated once

extension SecureStorage {
  /// Stores a first value under a key unless there is one by now, and returns the one that is stored then.
  package nonisolated(nonsending) func storeFirst<Value>(
    _ key: ItemKey, as coding: ItemCoding<Value>,
    _ generate: () async throws(SecureStorageError) -> Value
  ) async throws(SecureStorageError) -> Value {
    let turn = try await turnIfPossible(for: key, details: coding.details)
    var generated: Value?
    let outcome = await Result { () async throws(SecureStorageError) in
      try await storeNew(key, coding.details, in: turn) { () async throws(SecureStorageError) in
        let new = try item(for: key, as: coding, try await generate())
        // Others read the value from the item.
        generated = try coding.value(of: new, from: backendName)
        return new
      }
    }
    await turn?.end()
    let stored = try outcome.get()
    // Decoding again would leave another copy of the secret.
    if stored.isNew, let generated { return generated }
    return try coding.value(of: stored.item, from: backendName)
  }

  /// Stores a new item unless there is one by now.
  ///
  /// - Returns: The item that is stored then, and whether it's the new one.
  private nonisolated(nonsending) func storeNew(
    _ key: ItemKey, _ details: ItemQuery.Details, in turn: (any ItemTurn)?,
    _ generate: () async throws(SecureStorageError) -> SecureItem
  ) async throws(SecureStorageError) -> (item: SecureItem, isNew: Bool) {
    var generated: SecureItem?
    for _ in 0..<Self.mostTurnAttempts {
      let stored: SecureItem? =
        if let turn { try await turn.item() } else {
          try await itemsWithoutBlocking(for: [key], details: details)[key]
        }
      if let stored { return (stored, false) }
      let new = if let generated { generated } else { try await CurrentTurn.run(generate) }
      generated = new
      let isStored =
        if let turn { try await turn.save(new, replacing: nil) } else {
          // The addition doesn't wait for a turn again.
          try await CurrentTurn.run { () async throws(SecureStorageError) in
            try await change(to: new, for: key, wasThere: false)
          }
        }
      if isStored { return (new, true) }
    }
    throw outpaced
  }

  /// Takes a turn, or returns `nil` to go on without one.
  ///
  /// An addition that goes on is still refused if the item is there.
  private nonisolated(nonsending) func turnIfPossible(
    for key: ItemKey, details: ItemQuery.Details
  ) async throws(SecureStorageError) -> (any ItemTurn)? {
    if CurrentTurn.isTaken { return nil }
    let start = KeyringEvent.Start()
    do throws(SecureStorageError) {
      let turn = try await takeTurnWithoutBlocking(for: key, details: details, timeout: nil)
      KeyringEvent.report(.turnTaken(backend: backendName, since: start))
      return turn
    } catch {
      // A storage that is silent itself fails in a read.
      guard error.operation == .takeTurn, [.timedOut, .accessDenied].contains(error.code) else {
        throw error
      }
      KeyringEvent.report(.turnRefused(error, since: start))
      return nil
    }
  }
}

extension SecureItem? {
  /// Compares an item with another one that may be stored in its place.
  ///
  /// - Parameters:
  ///   - new: The other item, or `nil`.
  ///   - isSame: Whether the values of both items are known to be equal.
  ///   - isUnknownHeld: The answer for attributes that weren't fetched.
  /// - Returns: `true` for an item that has the content of the other one already.
  fileprivate func holds(
    _ new: SecureItem?, isSame: Bool = false, ifUnknown isUnknownHeld: Bool
  ) -> Bool {
    guard let self, let new else { return self == nil && new == nil }
    guard isSame || self.secret == new.secret else { return false }
    let changes = new.attributes ?? [:]
    guard let attributes = self.attributes else { return changes.isEmpty || isUnknownHeld }
    return changes.allSatisfy { attributes[$0] == $1 }
  }
}

/// Returns `true` for equal values of a type that can be compared.
private func areEqual<Value>(_ value: Value?, _ other: Value?) -> Bool {
  func isEqual<Left: Equatable>(_ left: Left) -> Bool { left == other as? Left }
  return (value as? any Equatable).map { isEqual($0) } ?? false
}

extension SecureStorageError.Code {
  /// Whether a second attempt may succeed.
  fileprivate var mayPass: Bool {
    [.timedOut, .connectionLost, .noProvider, .providerFailed].contains(self)
  }
}
