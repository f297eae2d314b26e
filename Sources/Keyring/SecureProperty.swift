public import KeyringStorage
internal import Synchronization

/// What stands behind a secure property: the operations that throw, and what went wrong with the
/// plain reads and assignments, which cannot.
///
/// It is the projected value, written with a dollar sign: `settings.$authToken.read()`.
public struct SecureProperty<Value: Sendable>: Sendable {
  let name: String
  private var explicitStorage: ChosenStorage?
  let coding: ItemCoding<Value>
  private var itemKey: PropertyKey
  private let failures = Failures()

  init(
    name: String, storage: (any SecureStorage)?, as coding: ItemCoding<Value>,
    key: PropertyKey
  ) {
    self.name = name
    self.explicitStorage = storage.map(ChosenStorage.init)
    self.coding = coding
    itemKey = key
  }

  /// The key of the item, with the service in force now.
  public var key: ItemKey { itemKey.current }

  /// The storage that the property uses now: its own, the one in force for this task, the
  /// process's, or the platform's.
  public var storage: any SecureStorage { chosenStorage.storage }

  private var chosenStorage: ChosenStorage {
    explicitStorage ?? SecureStorageDefaults.inForce(forPropertyNamed: name)
  }

  var hasExplicitStorage: Bool { explicitStorage != nil }

  /// The same property, tied to the storage and the key that are in force now.
  var resolved: Self {
    var property = self
    property.explicitStorage = chosenStorage
    property.itemKey = .fixed(key)
    return property
  }

  // MARK: - Operations that throw

  /// Reads the value.
  ///
  /// - Returns: The value, or `nil` when there is none.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func read() throws(SecureStorageError) -> Value? {
    // Held, so that it is called where it is: the storage in it would else be copied.
    let chosen = chosenStorage
    let value = try coding.value(for: key, from: chosen.storage)
    readSucceeded()
    return value
  }

  /// Stores a value in place of the one that is there, if any.
  ///
  /// - Parameter value: The value; `nil` removes the item.
  /// - Throws: What kept it from being stored; the old value is still there then.
  public func write(_ value: Value?) throws(SecureStorageError) {
    try storage.setValue(value, for: key, as: coding)
    writeSucceeded()
  }

  /// Removes the item.
  ///
  /// On the Secret Service another program's item of the same names may be found afterwards; another
  /// removal takes it.
  ///
  /// - Returns: `true` if there was one.
  /// - Throws: What kept it from being removed.
  @discardableResult
  public func remove() throws(SecureStorageError) -> Bool {
    let wasThere = try storage.remove(key)
    writeSucceeded()
    return wasThere
  }

  /// Tells whether there is a value, without fetching it.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func exists() throws(SecureStorageError) -> Bool {
    try storage.exists(key)
  }

  func readSucceeded() { failures.readSucceeded() }

  func writeSucceeded() { failures.writeSucceeded() }

  // MARK: - Plain reads and assignments

  /// What went wrong with the property's plain use, if anything did.
  ///
  /// A failed assignment stays here until a later write of the property succeeds; no read clears
  /// it. The failure of a read stays until a read or a write succeeds.
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

extension SecureProperty {
  /// What tells this property from every other one; copies of it are the same.
  var identity: ObjectIdentifier { ObjectIdentifier(failures) }
}

extension SecureProperty: CustomStringConvertible, CustomReflectable {
  /// The key of the item; never its value.
  public var description: String { "\(key)" }
  /// A mirror that shows the key only.
  public var customMirror: Mirror { Mirror(self, children: ["key": key]) }
}

/// The failures that one property remembers, shared by all copies of the property.
private final class Failures: Sendable {
  private struct State {
    var read: SecureStorageError?
    var write: SecureStorageError?
  }

  private let state = Mutex(State())
  /// Whether there may be any; a success costs nothing where there was no failure before.
  private let mayBeSet = Atomic(false)

  var current: SecureStorageError? { state.withLock { $0.write ?? $0.read } }

  func readFailed(_ error: SecureStorageError) { change { $0.read = error } }

  func writeFailed(_ error: SecureStorageError) { change { $0.write = error } }

  func readSucceeded() {
    if mayBeSet.load(ordering: .acquiring) { change { $0.read = nil } }
  }

  func writeSucceeded() {
    if mayBeSet.load(ordering: .acquiring) { change { $0 = State() } }
  }

  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      body(&state)
      mayBeSet.store(state.read != nil || state.write != nil, ordering: .releasing)
    }
  }
}
