// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage
internal import Synchronization

/// The operations of a secure property that throw, and the last failure of those that don't.
///
/// You write it with a dollar sign: `settings.$authToken.read()`.
public struct SecureProperty<Value: Sendable>: Sendable {
  package let name: String
  private var explicitStorage: StorageBox?
  let coding: ItemCoding<Value>
  private var itemKey: PropertyKey
  let firstValue: FirstValue<Value>?
  let failures = Failures()

  init(
    name: String, storage: (any SecureStorage)?, as coding: ItemCoding<Value>,
    key: PropertyKey, first firstValue: FirstValue<Value>? = nil
  ) {
    self.name = name
    self.firstValue = firstValue
    self.explicitStorage = storage.map(StorageBox.init)
    self.coding = coding
    itemKey = key
  }

  /// The key of the item, made with the current service.
  public var key: ItemKey { itemKey.current }

  /// The storage that the property currently uses.
  ///
  /// It's the property's own storage, or the storage of the current task, of the process, or of the
  /// platform.
  public var storage: any SecureStorage { chosenStorage.storage }

  private var chosenStorage: StorageBox {
    explicitStorage ?? SecureStorageDefaults.current(forPropertyNamed: name)
  }

  package var hasExplicitStorage: Bool { explicitStorage != nil }

  /// Lets the one who tracks this read know of the next change.
  ///
  /// An `await` isn't tracked, because a tracking belongs to a thread.
  package func noteRead() {
    if Tracking.isCurrent { track() }
  }

  @inline(never)
  private func track() {
    let box = chosenStorage
    track(in: box)
    // No one was told if another one was chosen just before.
    let current = chosenStorage
    if current !== box { track(in: current) }
  }

  private func track(in box: StorageBox) {
    let choice: TrackedItem.Choice =
      hasExplicitStorage
      ? .ofProperty : SecureStorageDefaults.override?.storage === box ? .ofTask : .ofProcess
    TrackedItems.track(key, in: box, choice, context: SecureStorageDefaults.context)
  }

  /// Tells those who track the property that it changes, and returns the change to end after it.
  func beginChange() -> TrackedItems.Change? {
    TrackedItems.beginChange(of: key, in: chosenStorage)
  }

  /// Tells those who track the property that it has changed.
  ///
  /// The change is `nil` if nothing was tracked when it began.
  func endChange(_ change: TrackedItems.Change?) { (change ?? beginChange())?.end() }

  /// The identity of the property, which all its copies share.
  package var identity: ObjectIdentifier { ObjectIdentifier(failures) }

  /// The same property with its current storage and key fixed.
  package var resolved: Self {
    var property = self
    property.explicitStorage = chosenStorage
    property.itemKey = .fixed(key)
    return property
  }

  // MARK: - Operations that throw

  /// Reads the value.
  ///
  /// A property that was declared with `orGenerate` stores a value if there is none, as `readOrStore` does.
  ///
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: `SecureStorageError` if the value can't be read.
  public func read() throws(SecureStorageError) -> Value? {
    if case .generated(let generate)? = firstValue { return try readOrStore(generate) }
    noteRead()
    // Calling the method on a local constant avoids a copy of the storage inside the box.
    let chosen = chosenStorage
    var value = try chosen.storage.value(for: key, as: coding)
    if value == nil, firstValue != nil {
      try takeOver()
      value = try chosen.storage.value(for: key, as: coding)
    }
    failures.readSucceeded()
    return value
  }

  /// Reads the value without blocking the task's thread.
  ///
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: The same errors as the synchronous overload, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func read() async throws(SecureStorageError) -> Value? {
    if case .generated(let generate)? = firstValue {
      return try await readOrStore { () async throws(SecureStorageError) in generate() }
    }
    var value = try await storage.value(for: key, as: coding)
    if value == nil, firstValue != nil {
      try await takeOver()
      value = try await storage.value(for: key, as: coding)
    }
    failures.readSucceeded()
    return value
  }

  /// Stores a value, replacing the current one if there is one.
  ///
  /// - Parameter value: The value, or `nil` to remove the item.
  /// - Throws: `SecureStorageError` if the value can't be stored. In that case, the old value is kept.
  ///   After an error such as `.timedOut` or `.connectionLost`, the new value may have been stored.
  public func write(_ value: Value?) throws(SecureStorageError) {
    let change = beginChange()
    defer { endChange(change) }
    try takeOver()
    try storage.setValue(value, for: key, as: coding)
    failures.writeSucceeded()
  }

  /// Stores a value, replacing the current one if there is one, without blocking the task's thread.
  ///
  /// - Parameter value: The value, or `nil` to remove the item.
  /// - Throws: The same errors as the synchronous overload, or `.canceled` if the task is cancelled. In
  ///   that case, the value may have been stored.
  public nonisolated(nonsending) func write(_ value: Value?) async throws(SecureStorageError) {
    let change = beginChange()
    defer { endChange(change) }
    try await takeOver()
    try await storage.setValue(value, for: key, as: coding)
    failures.writeSucceeded()
  }

  /// Removes the item.
  ///
  /// If another program has an item of the same name, the property finds that one afterwards.
  ///
  /// - Returns: `true` if there was an item.
  /// - Throws: `SecureStorageError` if the item can't be removed.
  @discardableResult
  public func remove() throws(SecureStorageError) -> Bool {
    let change = beginChange()
    defer { endChange(change) }
    try takeOver()
    let wasThere = try storage.remove(key)
    failures.writeSucceeded()
    return wasThere
  }

  /// Removes the item without blocking the task's thread.
  ///
  /// - Returns: `true` if there was an item.
  /// - Throws: The same errors as the synchronous overload, or `.canceled` if the task is cancelled. In
  ///   that case, the item may have been removed.
  @discardableResult
  public nonisolated(nonsending) func remove() async throws(SecureStorageError) -> Bool {
    let change = beginChange()
    defer { endChange(change) }
    try await takeOver()
    let wasThere = try await storage.remove(key)
    failures.writeSucceeded()
    return wasThere
  }

  /// Returns `true` if there is a value, without fetching it.
  ///
  /// - Returns: `true` if there is a value.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func exists() throws(SecureStorageError) -> Bool {
    noteRead()
    try takeOver()
    return try storage.exists(key)
  }

  /// Returns `true` if there is a value, without fetching it and without blocking the task's thread.
  ///
  /// - Returns: `true` if there is a value.
  /// - Throws: The same errors as the synchronous overload, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func exists() async throws(SecureStorageError) -> Bool {
    try await takeOver()
    return try await storage.exists(key)
  }

  // MARK: - Plain reads and assignments

  /// The error of a failed read or assignment of the plain property, or `nil` if there is none.
  ///
  /// Only a successful write clears the error of an assignment. A successful read also clears that of a
  /// read.
  public var failure: SecureStorageError? { failures.current }

  var value: Value? {
    get {
      do throws(SecureStorageError) {
        return try read()
      } catch {
        failures.readFailed(error)
        return nil
      }
    }
    nonmutating set {
      do throws(SecureStorageError) {
        try write(newValue)
      } catch {
        failures.writeFailed(error)
        SecureStorageDefaults.report(SecurePropertyFailure(property: name, error: error))
      }
    }
  }
}

extension SecureProperty: CustomStringConvertible, CustomReflectable {
  /// The key of the item, without the value.
  public var description: String { "\(key)" }
  /// A mirror that shows only the key.
  public var customMirror: Mirror { Mirror(self, children: ["key": key]) }
}
