// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A storage that reads each item from the first of several storages that has it, and writes to one of
/// them.
///
/// The next layer is read after one that lacks the item, or that is out of reach and has `isRequired: false`. A change
/// that you couldn't read back afterwards throws `.readOnly`, and names the layer.
///
/// ```swift
/// SecureStorageDefaults.storage = LayeredStorage([
///   .reading(CredentialsDirectoryStorage(service: "org.example.service")),
///   .reading(fleet, isRequired: false),
///   .writing(file),
/// ])
/// ```
///
/// | a layer's answer | the next layer |
/// |---|---|
/// | there is no item, or no storage (`.noStorage`) | is read |
/// | it can't be reached (`.noSessionBus`, `.noProvider`, `.providerFailed`, `.connectionLost`, `.timedOut`) | is read with `isRequired: false` |
/// | any other error | isn't read, and the error is thrown |
///
/// | the item is in | saving | removing |
/// |---|---|---|
/// | a layer before the written one | throws `.readOnly` | throws `.readOnly` |
/// | the written layer | changes it | removes it, unless another layer has it, too |
/// | only a layer after the written one | copies it to the written layer | throws `.readOnly` |
public struct LayeredStorage: AsynchronousStorage, ObservableStorage {
  let layers: [Layer]
  /// The position of the layer that is written, if there is one.
  let writingIndex: Int?

  /// Creates a storage from layers.
  ///
  /// - Parameter layers: The layers, in the order in which they're read. At most one of them is a writing layer. With
  ///   none, the storage is read-only.
  public init(_ layers: [Layer]) {
    precondition(
      layers.count(where: \.isWriting) <= 1, "A LayeredStorage writes to only one layer.")
    self.layers = layers
    writingIndex = layers.firstIndex(where: \.isWriting)
  }

  /// The limit of the writing layer.
  public var secretByteLimit: Int {
    writingIndex.map { layers[$0].storage.secretByteLimit } ?? ItemLimits.secretBytes
  }

  /// The promise of the writing layer.
  public var durability: StorageDurability {
    writingIndex.map { layers[$0].storage.durability } ?? .afterRestart
  }

  /// The promise of all layers, each for its own items.
  public var readsOneVersion: Bool { layers.allSatisfy(\.storage.readsOneVersion) }

  // MARK: - Reading

  /// Finds items in all layers, newest first, each in the first layer that has an item with its key.
  public func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    if let key = query.key, query == .key(key, details: query.details) {
      return try await itemsWithoutBlocking(for: [key], details: query.details).map(\.value)
    }
    try validate(query, for: .read)
    var complete = query
    // Items of several layers are sorted by time, and a layer's newest items may be hidden.
    complete.details.insert(.metadata)
    complete.limit = nil
    for _ in 0..<Self.mostAttempts {
      if let found = try await visibleItems(matching: complete) { return query.newest(of: found) }
    }
    throw error(.other, during: .read, message: "The layers were changed again and again.")
  }

  private static let mostAttempts = 100

  /// Returns the items that no earlier layer hides, or `nil` after a change of a layer in the meantime.
  private func visibleItems(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem]? {
    var answers: [[SecureItem]] = []
    var found: [SecureItem] = []
    for (index, layer) in layers.enumerated() {
      let items = try await items(matching: query, in: layer)
      let known = Set(answers.joined().map(\.key))
      let new = items.filter { !known.contains($0.key) }
      // An item of an earlier layer hides these even if it doesn't match the query.
      let hidden = try await self.items(
        for: new.map(\.key).filter(canLookFor), details: [], in: layers.prefix(index),
        unlocking: query.allowsUnlocking)
      // It may also be new there.
      for (layer, answer) in zip(layers, answers) where !hidden.isEmpty {
        if try await !self.items(matching: query, in: layer).areSame(as: answer) { return nil }
      }
      found += new.filter { hidden[$0.key] == nil }
      answers.append(items)
    }
    return found
  }

  private func items(
    matching query: ItemQuery, in layer: Layer
  ) async throws(SecureStorageError) -> [SecureItem] {
    try await layer.answer([]) { (storage) async throws(SecureStorageError) in
      try await storage.items(matching: query)
    }
  }

  /// Finds the items stored under keys, each in the first layer that has it.
  public func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    for key in keys { try validate(key, for: .read) }
    return try await items(for: keys, details: details, in: layers[...])
  }

  private func items(
    for keys: [ItemKey], details: ItemQuery.Details, in layers: ArraySlice<Layer>,
    unlocking allowsUnlocking: Bool = true
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    var found: [ItemKey: SecureItem] = [:]
    var missing = keys
    for layer in layers where !missing.isEmpty {
      var items: [ItemKey: SecureItem] = [:]
      if allowsUnlocking {
        items = try await layer.answer([:]) {
          [missing] (storage) async throws(SecureStorageError) in
          try await storage.items(for: missing, details: details)
        }
      } else {
        for key in missing {
          let query = ItemQuery(key: key, details: details, allowsUnlocking: false)
          items[key] = try await layer.answer(nil) { (storage) async throws(SecureStorageError) in
            try await storage.items(matching: query).first
          }
        }
      }
      for (key, item) in items { found[key] = item }
      missing.removeAll { items[$0] != nil }
    }
    return found
  }

  /// Returns the name of the layer that has an item.
  public func originWithoutBlocking(of key: ItemKey) async throws(SecureStorageError) -> String? {
    try validate(key, for: .read)
    for layer in layers {
      let origin = try await layer.answer(nil) { (storage) async throws(SecureStorageError) in
        try await storage.originWithoutBlocking(of: key)
      }
      if let origin { return origin }
    }
    return nil
  }

  // MARK: - Observing

  /// The shortest time of a layer, where that of a layer that isn't observed is a minute.
  public var cacheLifetime: Duration? {
    layers.compactMap { layer in
      guard let storage = layer.storage as? any ObservableStorage else { return .cacheLifetime }
      return storage.cacheLifetime
    }.min()
  }

  /// Calls a closure with every event of the layers, also if another layer hides the item.
  ///
  /// Read the item after a change. Left out are variables, and layers whose storage is missing (`.noStorage`) when the
  /// observation begins.
  ///
  /// - Parameters:
  ///   - query: The items whose changes to report by key.
  ///   - observer: The closure to call.
  /// - Returns: A subscription that ends the observation, at the latest when it's released.
  /// - Throws: `.notObservable` for a layer that is silent about changes, or another error of a layer.
  public func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    let events = ObserverList()
    let own = events.add(observer)
    var subscriptions: [StorageSubscription] = []
    for (index, layer) in layers.enumerated() where layer.isObserved {
      let storage = try layer.storage.observable()
      do throws(SecureStorageError) {
        subscriptions.append(
          try await storage.observeForLibraryWithoutBlocking(query) {
            events.report($0, from: index)
          })
      } catch {
        if error.code != .noStorage { throw error }
      }
    }
    return StorageSubscription { [subscriptions] in
      own.cancel()
      for subscription in subscriptions { subscription.cancel() }
    }
  }
}

extension [SecureItem] {
  /// Returns `true` for the same items in any order, as items of the same time have none.
  fileprivate func areSame(as others: [SecureItem]) -> Bool {
    count == others.count
      && Dictionary(grouping: self, by: \.key) == Dictionary(grouping: others, by: \.key)
  }
}
