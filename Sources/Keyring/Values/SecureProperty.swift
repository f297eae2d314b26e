// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
public import KeyringStorage

/// A value in secure storage, with the operations that throw: ``Password``, ``Credentials``, ``InternetPassword``,
/// ``SecureValue``, the handle ``StoredValue``, and wrappers of your own.
///
/// Use them on a property's projected value, or on a constant:
///
/// ```swift
/// try settings.$authToken.write("s3cret")
///
/// let token = Password("authToken")
/// try token.write("s3cret")
/// ```
///
/// In `async` code, write `await`, and the operation leaves its thread free.
///
/// A type that conforms is found by ``SecureProperties``, as <doc:YourOwnTypes> shows.
public protocol SecureProperty<Stored>: Sendable {
  /// The type of the stored value.
  associatedtype Stored: Sendable
  /// The handle of the stored value.
  var projectedValue: StoredValue<Stored> { get }
}

extension StoredValue: SecureProperty {
  /// The handle itself.
  public var projectedValue: StoredValue { self }

  /// The value, or `nil` for a missing one and for a failed read.
  ///
  /// A wrapper's `wrappedValue` is this. A failure is in ``SecureProperty/failure``, and that of an assignment goes to
  /// ``SecureStorageDefaults/failureHandler``.
  ///
  /// It blocks for a trip to the keyring: up to 25 seconds for a keyring that stays silent, and up to 300 for a
  /// question to the user. On the main thread, write `try await $authToken.read()`, or read once and keep the value.
  ///
  /// ```swift
  /// let token = Password("authToken").projectedValue
  /// token.value = "s3cret"
  /// print(token.value ?? "signed out")
  /// ```
  public var value: Value? {
    get {
      let waits = MainLoop.waitCount
      defer { if MainLoop.waitCount != waits { reportWait(during: .read) } }
      do throws(SecureStorageError) {
        return try read()
      } catch {
        failures.readFailed(error)
        return nil
      }
    }
    nonmutating set {
      let waits = MainLoop.waitCount
      defer { if MainLoop.waitCount != waits { reportWait(during: .save) } }
      do throws(SecureStorageError) {
        try write(newValue)
      } catch {
        failures.writeFailed(error)
        SecureStorageDefaults.report(SecurePropertyFailure(property: name, error: error))
      }
    }
  }
}

extension SecureProperty {
  /// The key of the item, made with the current service.
  ///
  /// ```swift
  /// print(settings.$authToken.key)  // password (service: org.example.app, username: authToken)
  /// ```
  public var key: ItemKey { projectedValue.currentKey }

  /// The storage that the value is currently in.
  ///
  /// It's the property's own storage, or the storage of the current task, of the process, or of the platform.
  ///
  /// ```swift
  /// let items = try settings.$authToken.storage.items(matching: .service("org.example.app"))
  /// ```
  public var storage: any SecureStorage { projectedValue.chosenStorage.storage }

  /// The error of a failed plain read or assignment, or `nil`.
  ///
  /// A successful write clears it. A successful read clears only the error of a read.
  ///
  /// ```swift
  /// if settings.authToken == nil, let failure = settings.$authToken.failure {
  ///   print(failure.message)
  /// }
  /// ```
  public var failure: SecureStorageError? { projectedValue.failures.current }

  /// Reads the value.
  ///
  /// A property that was declared with `orGenerate` generates a missing value, as `readOrStore` does.
  ///
  /// ```swift
  /// let token = try settings.$authToken.read()
  /// ```
  ///
  /// - Returns: The value, or `nil`.
  /// - Throws: `SecureStorageError` for a failed read.
  @inline(__always)
  public func read() throws(SecureStorageError) -> Stored? {
    let value = projectedValue
    if case .generated(let generate)? = value.firstValue { return try readOrStore(generate) }
    value.noteRead()
    // Calling the method on a local constant avoids a copy of the storage inside the box.
    let chosen = value.chosenStorage
    var found = try chosen.storage.value(for: value.currentKey, as: value.coding)
    if found == nil, value.firstValue != nil { found = try value.readAfterTakingOver() }
    value.failures.readSucceeded()
    return found
  }

  /// Reads the value asynchronously.
  ///
  /// ```swift
  /// let token = try await settings.$authToken.read()
  /// ```
  ///
  /// - Returns: The value, or `nil`.
  /// - Throws: `SecureStorageError` for a failed read, or `.canceled` for a cancelled task.
  public nonisolated(nonsending) func read() async throws(SecureStorageError) -> Stored? {
    let value = projectedValue
    if case .generated(let generate)? = value.firstValue {
      return try await readOrStore { () async throws(SecureStorageError) in generate() }
    }
    var found = try await value.chosenStorage.storage.value(for: value.currentKey, as: value.coding)
    if found == nil, value.firstValue != nil {
      try await value.takeOver()
      found = try await value.chosenStorage.storage.value(for: value.currentKey, as: value.coding)
    }
    value.failures.readSucceeded()
    return found
  }

  /// Stores a value, replacing the current one if there is one.
  ///
  /// ```swift
  /// try settings.$authToken.write("s3cret")
  /// try settings.$authToken.write("first", mode: .add)  // throws .itemAlreadyExists
  /// ```
  ///
  /// - Parameters:
  ///   - newValue: The value, or `nil` to remove the item.
  ///   - mode: The save mode: `.add` throws for an item that is there, `.update` for a missing one.
  /// - Throws: `SecureStorageError` for a failed write. In that case, the old value is kept. After an error such as
  ///   `.timedOut` or `.connectionLost`, the new value may have been stored.
  @inline(__always)
  public func write(_ newValue: Stored?, mode: SaveMode = .addOrReplace) throws(SecureStorageError)
  {
    let value = projectedValue
    let change = value.beginChange()
    defer { value.endChange(change) }
    try value.takeOver()
    try value.chosenStorage.storage.setValue(
      newValue, for: value.currentKey, as: value.coding, mode: mode)
    value.failures.writeSucceeded()
  }

  /// Stores a value asynchronously, replacing the current one if there is one.
  ///
  /// ```swift
  /// try await settings.$authToken.write("s3cret")
  /// ```
  ///
  /// - Parameters:
  ///   - newValue: The value, or `nil` to remove the item.
  ///   - mode: The save mode.
  /// - Throws: `SecureStorageError` for a failed write, or `.canceled` for a cancelled task. In that case, the value
  ///   may have been stored.
  public nonisolated(nonsending) func write(
    _ newValue: Stored?, mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    let value = projectedValue
    let change = value.beginChange()
    defer { value.endChange(change) }
    try await value.takeOver()
    try await value.chosenStorage.storage.setValue(
      newValue, for: value.currentKey, as: value.coding, mode: mode)
    value.failures.writeSucceeded()
  }

  /// Removes the item.
  ///
  /// Another program's item of the same name is found afterwards.
  ///
  /// ```swift
  /// if try settings.$authToken.remove() { print("signed out") }
  /// ```
  ///
  /// - Returns: `true` if there was an item.
  /// - Throws: `SecureStorageError` for a failed removal.
  @discardableResult
  public func remove() throws(SecureStorageError) -> Bool {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in try await remove() }
  }

  /// Removes the item asynchronously.
  ///
  /// ```swift
  /// try await settings.$authToken.remove()
  /// ```
  ///
  /// - Returns: `true` if there was an item.
  /// - Throws: `SecureStorageError` for a failed removal, or `.canceled` for a cancelled task. In that case, the item
  ///   may have been removed.
  @discardableResult
  public nonisolated(nonsending) func remove() async throws(SecureStorageError) -> Bool {
    let value = projectedValue
    let change = value.beginChange()
    defer { value.endChange(change) }
    try await value.takeOver()
    let wasThere = try await value.chosenStorage.storage.remove(value.currentKey)
    value.failures.writeSucceeded()
    return wasThere
  }

  /// Finds out whether there is a value, without fetching it.
  ///
  /// ```swift
  /// let isSignedIn = try settings.$authToken.exists()
  /// ```
  ///
  /// - Returns: `true` if there is a value.
  /// - Throws: `SecureStorageError` for a failed read.
  public func exists() throws(SecureStorageError) -> Bool {
    projectedValue.noteRead()
    return try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in try await exists() }
  }

  /// Finds out whether there is a value, without fetching it, suspending the task.
  ///
  /// ```swift
  /// let isSignedIn = try await settings.$authToken.exists()
  /// ```
  ///
  /// - Returns: `true` if there is a value.
  /// - Throws: `SecureStorageError` for a failed read, or `.canceled` for a cancelled task.
  public nonisolated(nonsending) func exists() async throws(SecureStorageError) -> Bool {
    let value = projectedValue
    try await value.takeOver()
    return try await value.chosenStorage.storage.exists(value.currentKey)
  }
}
