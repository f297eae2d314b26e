// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A turn in the writing layer, for an item that a later layer may have.
struct LayeredTurn: ItemTurn {
  let turn: any ItemTurn
  let storage: LayeredStorage
  let key: ItemKey
  let details: ItemQuery.Details

  nonisolated(nonsending) func item() async throws(SecureStorageError) -> SecureItem? {
    if let item = try await turn.item() { return item }
    return try await storage.itemsWithoutBlocking(for: [key], details: details)[key]
  }

  nonisolated(nonsending) func save(
    _ item: SecureItem?, replacing old: SecureItem?
  ) async throws(SecureStorageError) -> Bool {
    guard let old, try await turn.item() == nil else {
      return try await turn.save(item, replacing: old)
    }
    guard
      let (found, layer) = try await storage.itemAndLayer(for: key),
      found.selecting(details).hasSameContent(as: old)
    else { return false }
    guard let item else { throw storage.hidden(by: layer, .remove) }
    return try await turn.save(item.completed(from: found), replacing: nil)
  }

  func whenLost(_ handler: @escaping @Sendable () -> Void) { turn.whenLost(handler) }

  nonisolated(nonsending) func end() async { await turn.end() }
}

extension LayeredStorage {
  /// Waits for a turn in the writing layer.
  ///
  /// The error is `.readOnly` for an item of a layer before that one, or with no writing layer.
  public func takeTurnWithoutBlocking(
    for key: ItemKey, details: ItemQuery.Details, timeout: Duration?
  ) async throws(SecureStorageError) -> any ItemTurn {
    try validate(key, for: .takeTurn)
    let (writing, index) = try writingLayer(for: .takeTurn)
    if let (_, layer) = try await itemAndLayer(for: key, in: layers[..<index]) {
      throw hidden(by: layer, .takeTurn)
    }
    let turn = try await writing.takeTurnWithoutBlocking(
      for: key, details: details, timeout: timeout)
    return LayeredTurn(turn: turn, storage: self, key: key, details: details)
  }

  /// Finds an item, and the layer that it comes from.
  ///
  /// - Throws: The error of a layer that leaves open whether it has the item.
  fileprivate func itemAndLayer(
    for key: ItemKey, in layers: ArraySlice<Layer>? = nil
  ) async throws(SecureStorageError) -> (SecureItem, Layer)? {
    for layer in layers ?? self.layers[...] {
      let item = try await layer.required.answer(nil) {
        (storage) async throws(SecureStorageError) in
        try await storage.item(for: key, details: .all)
      }
      if let item { return (item, layer) }
    }
    return nil
  }
}
