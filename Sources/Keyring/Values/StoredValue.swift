// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A handle to the value of one item: a storage, a key, and the coding of the value.
///
/// A property gives you one as its projected value, and a storage by a key:
///
/// ```swift
/// try settings.$authToken.write("s3cret")
/// try storage[.password(service: "org.example.app", account: "authToken")].read()
/// ```
///
/// Its operations are those of ``SecureProperty``, for blocking and for asynchronous code. To keep a type of your own,
/// make a property wrapper around one, as <doc:YourOwnTypes> shows.
public struct StoredValue<Value: Sendable>: Sendable {
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

  var currentKey: ItemKey { itemKey.current }

  var chosenStorage: StorageBox {
    explicitStorage ?? SecureStorageDefaults.current(forPropertyNamed: name)
  }

  package var hasExplicitStorage: Bool { explicitStorage != nil }

  /// The identity of the value, which all copies of the handle share.
  package var identity: ObjectIdentifier { ObjectIdentifier(failures) }

  /// The same value with its current storage and key fixed.
  package var resolved: Self {
    var value = self
    value.explicitStorage = chosenStorage
    value.itemKey = .fixed(currentKey)
    return value
  }
}

extension StoredValue {
  /// Declares a value of the current service.
  ///
  /// ```swift
  /// let token = StoredValue("authToken", as: ItemCoding<String>.text)
  /// try token.write("s3cret")
  /// ```
  ///
  /// - Parameters:
  ///   - account: The name of the value. It identifies the value among those of the service.
  ///   - coding: The coding of the value.
  ///   - service: The app or service that the value belongs to. The default is ``SecureStorageDefaults/service``.
  ///   - accessGroup: The name under which several programs of one vendor share the value.
  ///   - storage: The storage of the value. By default, it's the current storage each time you use the value.
  public init(
    _ account: String, as coding: ItemCoding<Value>, service: String? = nil,
    accessGroup: String? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(
      name: account, storage: storage, as: coding, key: .value(account, service, accessGroup))
  }

  /// Declares a value by the key of its item.
  ///
  /// ```swift
  /// let token = StoredValue(key: key, as: ItemCoding<String>.text)
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - coding: The coding of the value.
  ///   - storage: The storage of the value. By default, it's the current storage each time you use the value.
  public init(key: ItemKey, as coding: ItemCoding<Value>, storage: (any SecureStorage)? = nil) {
    self.init(name: key.propertyName, storage: storage, as: coding, key: .fixed(key))
  }
}

extension SecureStorage {
  /// The value stored under a key.
  ///
  /// ```swift
  /// try storage[.password(service: "org.example.app", account: "authToken")].write("s3cret")
  /// let login = try storage[.credentials(service: "org.example.app", label: "me"), as: .credential].read()
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - coding: The coding of the value. The default is that of a password.
  /// - Returns: The handle, whether or not there is such an item.
  public subscript<Value>(
    key: ItemKey, as coding: ItemCoding<Value> = ItemCoding<String>.text
  ) -> StoredValue<Value> {
    StoredValue(key: key, as: coding, storage: self)
  }
}

// MARK: - Observation of reads

extension StoredValue {
  /// Registers this read with Observation.
  ///
  /// A tracking belongs to a thread, so an `await` is left out.
  package func noteRead() {
    if Tracking.isCurrent { track() }
  }

  @inline(never)
  private func track() {
    let box = chosenStorage
    track(in: box)
    // No one was notified if another one was chosen just before.
    let current = chosenStorage
    if current !== box { track(in: current) }
  }

  private func track(in box: StorageBox) {
    let choice: TrackedItem.Choice =
      hasExplicitStorage
      ? .ofProperty : TaskOverride.current?.storage === box ? .ofTask : .ofProcess
    TrackedItem.track(currentKey, in: box, choice, context: SecureStorageDefaults.context)
  }

  /// Notifies those who track the value that it changes, and returns the change to end after it.
  func beginChange() -> TrackedItems.Change? {
    TrackedItems.beginChange(of: currentKey, in: chosenStorage)
  }

  /// Notifies those who track the value that it has changed.
  ///
  /// The change is `nil` when it began with nothing tracked.
  func endChange(_ change: TrackedItems.Change?) { (change ?? beginChange())?.end() }
}

extension StoredValue: CustomStringConvertible, CustomReflectable {
  /// The key of the item, without the value.
  public var description: String { "\(currentKey)" }
  /// A mirror that shows only the key.
  public var customMirror: Mirror { Mirror(self, children: ["key": currentKey]) }
}
