// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import KeyringRuntime
internal import KeyringStorage

// The synchronous overloads are disfavored. Otherwise, an `await` would select them if the closure doesn't suspend.

extension SecureProperty {
  /// Changes the value, while other updates and refreshes of it wait.
  ///
  /// ```swift
  /// try settings.$counter.update { ($0 ?? 0) + 1 }
  /// ```
  ///
  /// On the main thread, a closure that needs the main actor can't end before `turnTimeout`: use `await` there.
  ///
  /// - Parameters:
  ///   - turnTimeout: The longest time to wait for the others.
  ///   - change: The closure that returns the new value, or `nil` to remove the item. It gets the stored value, or `nil`
  ///     for a missing one. If another program stores a value meanwhile, it's called again with that value.
  /// - Returns: The value that is stored then, or `nil`. It's also `nil` for an item that was removed meanwhile.
  /// - Throws: The error of the closure, which changes nothing, or the errors of ``refresh(if:turnTimeout:_:)``.
  @_disfavoredOverload
  @discardableResult
  public func update(
    turnTimeout: Duration = .seconds(60), _ change: (Stored?) throws -> Stored?
  ) throws -> Stored? {
    try ThreadExecutor.runToEnd { () async throws in
      try await update(turnTimeout: turnTimeout) { value in try change(value) }
    }
  }

  /// Changes the value, while other updates and refreshes of it wait, suspending the task.
  ///
  /// ```swift
  /// try await settings.$devices.update { devices in (devices ?? []) + [try await server.register()] }
  /// ```
  ///
  /// - Parameters:
  ///   - turnTimeout: The longest time to wait for the others.
  ///   - change: The closure that returns the new value, or `nil` to remove the item. It gets the stored value, or `nil`
  ///     for a missing one. If another program stores a value meanwhile, it's called again with that value. If the turn
  ///     is lost, the task that it runs in is cancelled.
  /// - Returns: The value that is stored then, or `nil`. It's also `nil` for an item that was removed meanwhile.
  /// - Throws: The error of the closure, which changes nothing, or the errors of ``refresh(if:turnTimeout:_:)``.
  @discardableResult
  public nonisolated(nonsending) func update(
    turnTimeout: Duration = .seconds(60), _ change: (Stored?) async throws -> Stored?
  ) async throws -> Stored? {
    try await projectedValue.change(turnTimeout, change)
  }

  /// Renews a value that needs it, once for all who ask at the same moment.
  ///
  /// ```swift
  /// let tokens = try settings.$tokens.refresh(if: { $0.expires < .now }) { try server.refresh($0) }
  /// ```
  ///
  /// On the main thread, a closure that needs the main actor can't end before `turnTimeout`: use `await` there.
  ///
  /// - Parameters:
  ///   - needsRefresh: The condition, which is checked again after a wait for others.
  ///   - turnTimeout: The longest time to wait for the others.
  ///   - renew: The closure that returns the new value, or `nil` to remove the item.
  /// - Returns: The value that is stored then, or `nil` for a missing value, which isn't renewed.
  /// - Throws: The errors of the form with `await`.
  @_disfavoredOverload
  @discardableResult
  public func refresh(
    if needsRefresh: (Stored) -> Bool, turnTimeout: Duration = .seconds(60),
    _ renew: (Stored) throws -> Stored?
  ) throws -> Stored? {
    projectedValue.noteRead()
    return try ThreadExecutor.runToEnd { () async throws in
      try await refresh(if: needsRefresh, turnTimeout: turnTimeout) { old in try renew(old) }
    }
  }

  /// Renews a value that needs it, once for all who ask at the same moment.
  ///
  /// One of them runs its closure, and the others wait and get what it has stored: tasks, threads, programs of the user,
  /// and with `EtcdStorage` machines. A value that needs no renewal costs a read.
  ///
  /// ```swift
  /// let tokens = try await settings.$tokens.refresh(if: { $0.expires < .now }) { old in
  ///   try await server.refresh(old)
  /// }
  /// ```
  ///
  /// <doc:TokensThatExpire> tells what happens if a program crashes meanwhile.
  ///
  /// - Parameters:
  ///   - needsRefresh: The condition, which is checked again after a wait for others.
  ///   - turnTimeout: The longest time to wait for the others.
  ///   - renew: The closure that returns the new value, or `nil` to remove the item. If it throws, the old value stays.
  ///     If another program stores a value meanwhile, the condition is checked again with that value. If the turn is
  ///     lost, the task that it runs in is cancelled.
  /// - Returns: The value that is stored then, or `nil` for a missing value, which isn't renewed.
  /// - Throws: The error of the closure; or `SecureStorageError`: `.timedOut`, which names the program that keeps its
  ///   turn; `.turnLost`, after which the new value isn't stored; `.accessDenied` where there can't be turns;
  ///   `.readOnly`; `.invalidArgument` in the closure of another refresh or update; or `.canceled`.
  @discardableResult
  public nonisolated(nonsending) func refresh(
    if needsRefresh: (Stored) -> Bool, turnTimeout: Duration = .seconds(60),
    _ renew: (Stored) async throws -> Stored?
  ) async throws -> Stored? {
    let value = try await read()
    guard let value, needsRefresh(value) else { return value }
    return try await projectedValue.renew(turnTimeout, unless: { !needsRefresh($1) }, renew)
  }

  /// Renews a value that expires soon, once for all who ask at the same moment.
  ///
  /// - Parameters:
  ///   - time: The time before the expiry at which the value is renewed.
  ///   - turnTimeout: The longest time to wait for the others.
  ///   - renew: The closure that returns the new value, or `nil` to remove the item.
  /// - Returns: The value that is stored then, or `nil` for a missing value, which isn't renewed.
  /// - Throws: The errors of the form with `await`.
  @_disfavoredOverload
  @discardableResult
  public func refresh(
    within time: Duration, turnTimeout: Duration = .seconds(60),
    _ renew: (Stored) throws -> Stored?
  ) throws -> Stored? {
    projectedValue.noteRead()
    return try ThreadExecutor.runToEnd { () async throws in
      try await refresh(within: time, turnTimeout: turnTimeout) { old in try renew(old) }
    }
  }

  /// Renews a value that expires soon, once for all who ask at the same moment.
  ///
  /// ```swift
  /// @SecureValue("tokens", expires: \.expires) var tokens: Tokens?
  ///
  /// let tokens = try await settings.$tokens.refresh(within: .seconds(60)) { old in
  ///   try await server.refresh(old)
  /// }
  /// ```
  ///
  /// The declaration tells when a value expires: `expires` for one that knows it, or `expiresAfter` for one that's valid
  /// for some time after each write. A value that was stored without a time isn't renewed.
  ///
  /// - Parameters:
  ///   - time: The time before the expiry at which the value is renewed.
  ///   - turnTimeout: The longest time to wait for the others.
  ///   - renew: The closure that returns the new value, or `nil` to remove the item.
  /// - Returns: The value that is stored then, or `nil` for a missing value, which isn't renewed.
  /// - Throws: The errors of ``refresh(if:turnTimeout:_:)``.
  @discardableResult
  public nonisolated(nonsending) func refresh(
    within time: Duration, turnTimeout: Duration = .seconds(60),
    _ renew: (Stored) async throws -> Stored?
  ) async throws -> Stored? {
    try await projectedValue.renew(turnTimeout, within: time, renew)
  }
}

extension StoredValue {
  /// Changes the value in a turn.
  fileprivate nonisolated(nonsending) func change(
    _ timeout: Duration, details: ItemQuery.Details = [],
    unless isDone: (SecureItem?, Value?) -> Bool = { _, _ in false },
    _ body: (Value?) async throws -> Value?
  ) async throws -> Value? {
    try await takeOver()
    let (value, isChanged) = try await chosenStorage.storage.update(
      currentKey, as: coding, details: details, timeout: timeout, unless: isDone, body)
    if isChanged {
      failures.writeSucceeded()
      endChange(nil)
    } else {
      failures.readSucceeded()
    }
    return value
  }

  /// Changes a value that is there in a turn.
  fileprivate nonisolated(nonsending) func renew(
    _ timeout: Duration, details: ItemQuery.Details = [],
    unless isDone: (SecureItem, Value) -> Bool,
    _ body: (Value) async throws -> Value?
  ) async throws -> Value? {
    try await change(timeout, details: details) { item, value in
      guard let item, let value else { return true }
      return isDone(item, value)
    } _: { old in
      guard let old else { return nil }
      return try await body(old)
    }
  }

  /// Changes a value that expires soon in a turn.
  fileprivate nonisolated(nonsending) func renew(
    _ timeout: Duration, within time: Duration,
    _ body: (Value) async throws -> Value?
  ) async throws -> Value? {
    // A value that knows its end needs nothing but its secret.
    let details: ItemQuery.Details = coding.expires == nil ? .metadata : []
    let isValid = { (item: SecureItem, value: Value) in
      let end = coding.expires.map { $0(value) } ?? item.expires
      return end.map { $0 > CurrentDate.now + time / .seconds(1) } ?? true
    }
    try await takeOver()
    let storage = chosenStorage.storage
    let item = try await storage.item(for: currentKey, details: coding.details.union(details))
    let value = try item.map { item throws(SecureStorageError) in
      try coding.value(of: item, from: storage.backendName)
    }
    guard let item, let value, !isValid(item, value) else {
      failures.readSucceeded()
      return value
    }
    return try await renew(timeout, details: details, unless: isValid, body)
  }
}
