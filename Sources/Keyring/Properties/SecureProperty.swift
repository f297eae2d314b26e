// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage
internal import Synchronization

/// The throwing operations of a secure property, and the error of its last failed read or assignment.
///
/// Plain reads and assignments can't throw. Their error is kept in ``failure``.
///
/// A `SecureProperty` is the projected value of a property, written with a dollar sign:
/// `settings.$authToken.read()`.
public struct SecureProperty<Value: Sendable>: Sendable {
  package let name: String
  private var explicitStorage: StorageBox?
  let coding: ItemCoding<Value>
  private var itemKey: PropertyKey
  /// The closure that makes the value of a property that generates one, or `nil` for any other property.
  private let generate: (@Sendable () -> Value)?
  let failures = Failures()

  init(
    name: String, storage: (any SecureStorage)?, as coding: ItemCoding<Value>,
    key: PropertyKey, orGenerate generate: (@Sendable () -> Value)? = nil
  ) {
    self.name = name
    self.generate = generate
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
    if let generate { return try readOrStore(generate) }
    // Calling the method on a local constant avoids a copy of the storage inside the box.
    let chosen = chosenStorage
    let value = try chosen.storage.value(for: key, as: coding)
    failures.readSucceeded()
    return value
  }

  /// Reads the value without blocking the task's thread.
  ///
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: The same errors as the synchronous overload, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func read() async throws(SecureStorageError) -> Value? {
    if let generate {
      return try await readOrStore { () async throws(SecureStorageError) in generate() }
    }
    let value = try await storage.value(for: key, as: coding)
    failures.readSucceeded()
    return value
  }

  /// Stores a value, replacing the current one if there is one.
  ///
  /// - Parameter value: The value, or `nil` to remove the item.
  /// - Throws: `SecureStorageError` if the value can't be stored. In that case, the old value is kept.
  ///   After an error such as `.timedOut` or `.connectionLost`, the new value may have been stored.
  public func write(_ value: Value?) throws(SecureStorageError) {
    try storage.setValue(value, for: key, as: coding)
    failures.writeSucceeded()
  }

  /// Stores a value, replacing the current one if there is one, without blocking the task's thread.
  ///
  /// - Parameter value: The value, or `nil` to remove the item.
  /// - Throws: The same errors as the synchronous overload, or `.canceled` if the task is cancelled. In
  ///   that case, the value may have been stored.
  public nonisolated(nonsending) func write(_ value: Value?) async throws(SecureStorageError) {
    try await storage.setValue(value, for: key, as: coding)
    failures.writeSucceeded()
  }

  /// Removes the item.
  ///
  /// On the Secret Service, another program may have an item with the same names, which the property finds
  /// afterwards. A second removal removes that item.
  ///
  /// - Returns: `true` if there was an item.
  /// - Throws: `SecureStorageError` if the item can't be removed.
  @discardableResult
  public func remove() throws(SecureStorageError) -> Bool {
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
    let wasThere = try await storage.remove(key)
    failures.writeSucceeded()
    return wasThere
  }

  /// Returns `true` if there is a value, without fetching it.
  ///
  /// - Returns: `true` if there is a value.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func exists() throws(SecureStorageError) -> Bool { try storage.exists(key) }

  /// Returns `true` if there is a value, without fetching it and without blocking the task's thread.
  ///
  /// - Returns: `true` if there is a value.
  /// - Throws: The same errors as the synchronous overload, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func exists() async throws(SecureStorageError) -> Bool {
    try await storage.exists(key)
  }

  // MARK: - Plain reads and assignments

  /// The error of a failed read or assignment of the plain property, or `nil` if there is none.
  ///
  /// The error of an assignment stays until a later write of the property succeeds; a read doesn't clear
  /// it. The error of a read stays until a read or a write succeeds.
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

/// The errors of one property, shared by all its copies.
final class Failures: Sendable {
  private struct State {
    var read: SecureStorageError?
    var write: SecureStorageError?
  }

  private let state = Mutex(State())
  /// Indicates whether there may be an error, so that a success after no failure costs nothing.
  private let mayBeSet = Atomic(false)

  var current: SecureStorageError? { state.withLock { $0.write ?? $0.read } }

  func readFailed(_ error: SecureStorageError) { change { $0.read = error } }

  func writeFailed(_ error: SecureStorageError) { change { $0.write = error } }

  func readSucceeded() { if mayBeSet.load(ordering: .acquiring) { change { $0.read = nil } } }

  func writeSucceeded() { if mayBeSet.load(ordering: .acquiring) { change { $0 = State() } } }

  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      body(&state)
      mayBeSet.store(state.read != nil || state.write != nil, ordering: .releasing)
    }
  }
}

/// The key of a property's item: a fixed key, or one that follows the service of the process.
///
/// Making a key takes longer than finding an item in an in-memory storage, so the last key is cached.
enum PropertyKey: Sendable {
  case fixed(ItemKey)
  case ofDefaultService(CachedKey)

  /// Creates a key for a service.
  ///
  /// - Parameters:
  ///   - service: The service, or `nil` to use the service of the process.
  ///   - make: The closure that makes the key for a service.
  init(of service: String?, _ make: @escaping @Sendable (String) -> ItemKey) {
    self = service.map { .fixed(make($0)) } ?? .ofDefaultService(CachedKey(make))
  }

  /// The key for the current service.
  var current: ItemKey {
    switch self {
    case .fixed(let key): key
    case .ofDefaultService(let last): last.current
    }
  }

  final class CachedKey: Sendable {
    private let make: @Sendable (String) -> ItemKey
    /// The last key, and the number of service changes at the time it was made.
    private let last = Mutex<(changes: Int, key: ItemKey)?>(nil)

    fileprivate init(_ make: @escaping @Sendable (String) -> ItemKey) { self.make = make }

    fileprivate var current: ItemKey {
      let changes = SecureStorageDefaults.serviceChanges
      return last.withLock { last in
        if let last, last.changes == changes { return last.key }
        let key = make(SecureStorageDefaults.service)
        last = (changes, key)
        return key
      }
    }
  }
}

/// The way a property represents a missing item: as `nil` or as a default value.
///
/// The closures know the type of the stored value. Without them, each access of a generic property wrapper
/// would look up the metadata of several types.
struct MissingValue<Stored: Sendable, Value: Sendable>: Sendable {
  /// Returns the property's value, which stands for a missing item if there is none.
  let read: @Sendable (SecureProperty<Stored>) -> Value
  /// Assigns a value to the property, or removes the item if the value stands for a missing one.
  let assign: @Sendable (SecureProperty<Stored>, Value) -> Void
  /// The value that stands for a missing item, as text.
  let description: String
}

/// The text of a missing value, in place of the closures, when a program prints its settings.
extension MissingValue: CustomStringConvertible, CustomReflectable {
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension MissingValue where Value == Stored? {
  /// The representation of a missing item as `nil`.
  static var isNil: MissingValue {
    MissingValue(read: { $0.value }, assign: { $0.value = $1 }, description: "nil")
  }
}

extension MissingValue where Value == Stored {
  /// Returns the representation of a missing item as a default value, which isn't stored.
  static func isDefault(_ value: Stored) -> MissingValue {
    MissingValue(
      read: { $0.value ?? value }, assign: { $0.value = $1 }, description: "a default")
  }
}
