// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

extension LayeredStorage {
  /// Stores an item in the writing layer.
  ///
  /// - Parameters:
  ///   - item: The key, and the parts to store under it.
  ///   - mode: The save mode. An item exists if any layer has it.
  /// - Throws: `.readOnly` for an item of a layer before the writing one, or with no writing layer; the errors of the
  ///   writing layer; or the error of a layer that leaves open whether it has the item.
  public func saveWithoutBlocking(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) {
    try validate(item)
    let (writing, index) = try writingLayer(for: .save)
    for (position, layer) in layers.enumerated() {
      // The save itself asks the writing layer. It has to be asked here only if a later layer is
      // asked next.
      if position == index, position == layers.endIndex - 1 { break }
      // If only a later layer has the item, its stored parts are copied.
      let details: ItemQuery.Details =
        position <= index || mode == .add ? [] : item.secret == nil ? .all : .metadata
      let found = try await layer.required.answer(nil) {
        (storage) async throws(SecureStorageError) in
        try await storage.item(for: item.key, details: details)
      }
      guard let found else { continue }
      if mode == .add { throw error(.itemAlreadyExists, during: .save) }
      if position < index { throw hidden(by: layer, .save) }
      if position == index { break }
      return try await save(item.completed(from: found), copiedFor: item, mode: mode, in: writing)
    }
    try await writing.save(item, mode: mode)
  }

  /// Saves an item of another layer in the writing layer.
  private func save(
    _ copy: SecureItem, copiedFor item: SecureItem, mode: SaveMode, in writing: any SecureStorage
  ) async throws(SecureStorageError) {
    do throws(SecureStorageError) {
      try await writing.save(copy, mode: .add)
    } catch {
      // Another program has stored the item in the meantime. Keep what it has stored.
      guard error.code == .itemAlreadyExists else { throw error }
      try await writing.save(item, mode: mode)
    }
  }

  /// Removes items from the writing layer.
  ///
  /// - Parameter query: The conditions for the items.
  /// - Returns: The number of items that were removed.
  /// - Throws: `.readOnly` for an item of another layer, or with no writing layer; the errors of the writing layer; or
  ///   the error of a layer that leaves open whether it has the items.
  public func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    let (writing, index) = try writingLayer(for: .remove)
    var search = query
    // A layer that stays locked can't say what it has.
    (search.details, search.limit, search.allowsUnlocking) = ([], nil, true)
    let keys: [ItemKey] =
      if let key = query.key { [key] } else {
        try await writing.items(matching: search).map(\.key).filter(canLookFor)
      }
    for (position, layer) in layers.enumerated() where position != index {
      let isFree = try await layer.required.answer(true) {
        [search] (storage) async throws(SecureStorageError) in
        guard try await storage.items(for: keys, details: []).isEmpty else { return false }
        if search.key != nil { return true }
        return try await storage.items(matching: search).isEmpty
      }
      if !isFree { throw hidden(by: layer, .remove) }
    }
    return try await writing.removeItems(matching: query)
  }

  func writingLayer(
    for operation: SecureStorageError.Operation
  ) throws(SecureStorageError) -> (storage: any SecureStorage, index: Int) {
    if let writingIndex { return (layers[writingIndex].storage, writingIndex) }
    throw error(
      .readOnly, during: operation, message: "The storage has no layer that can be written.",
      recoverySuggestion: "Change the secret at its source, or declare a layer with writing(_:).")
  }

  func hidden(
    by layer: Layer, _ operation: SecureStorageError.Operation
  ) -> SecureStorageError {
    error(
      .readOnly, during: operation,
      message: "The item is in \(layer.storage.backendName), which this storage only reads.",
      recoverySuggestion: "Change the secret at its source.")
  }
}

extension SecureItem {
  /// Returns the item with the parts that it lacks from another one.
  func completed(from other: SecureItem) -> SecureItem {
    let other = other.sanitized
    var item = self
    item.secret = secret ?? other.secret
    item.label = label ?? other.label
    item.attributes = (other.attributes ?? [:]).setting(attributes ?? [:])
      .keeping { key.attributes[$0] == nil }
    return item
  }
}
