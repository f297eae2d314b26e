// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A recorded call of a ``FaultyStorage``, passed on or failed, which never contains a secret.
public struct StorageCall: Sendable, Equatable {
  /// The operation of the call.
  public let operation: SecureStorageError.Operation
  /// The keys of the items, if the call named them.
  public let keys: [ItemKey]
  /// The query of a call that finds, removes, or observes items.
  public let query: ItemQuery?
  /// The save mode of a call that stores an item.
  public let mode: SaveMode?

  init(
    _ operation: SecureStorageError.Operation, keys: [ItemKey], query: ItemQuery? = nil,
    mode: SaveMode? = nil
  ) {
    (self.operation, self.keys, self.query, self.mode) = (operation, keys, query, mode)
  }
}
