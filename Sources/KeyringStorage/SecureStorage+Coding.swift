// SPDX-License-Identifier: Apache-2.0

extension SecureStorage {
  /// Reads the value stored under a key.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - coding: The coding of the value.
  /// - Returns: The value, or `nil` for an absent item.
  /// - Throws: `.undecodable`, or another error if the storage can't be read.
  // Inlined, so that the compiler can specialize it if it knows the type of the value.
  @inlinable @inline(__always)
  package func value<Value>(
    for key: ItemKey, as coding: ItemCoding<Value>
  ) throws(SecureStorageError) -> Value? {
    guard coding.details == .secret else {
      guard let item = try item(for: key, details: coding.details) else { return nil }
      return try coding.value(of: item, from: backendName)
    }
    guard let secret = try secret(for: key) else { return nil }
    if let value = coding.decode(secret, nil) { return value }
    throw error(.undecodable, during: .read, message: ItemCoding<Value>.undecodable)
  }

  /// Stores a value under a key, or removes the item.
  ///
  /// - Parameters:
  ///   - value: The value, or `nil` to remove the item.
  ///   - key: The key of the item.
  ///   - coding: The coding of the value.
  ///   - mode: The save mode.
  /// - Throws: The error of the storage.
  package func setValue<Value>(
    _ value: Value?, for key: ItemKey, as coding: ItemCoding<Value>,
    mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    guard let value else {
      try remove(key)
      return
    }
    try save(item(for: key, as: coding, value), mode: mode)
  }

  /// Reads the value stored under a key, suspending the task.
  package nonisolated(nonsending) func value<Value>(
    for key: ItemKey, as coding: ItemCoding<Value>
  ) async throws(SecureStorageError) -> Value? {
    let found = try await itemsWithoutBlocking(for: [key], details: coding.details)
    guard let item = found[key] else { return nil }
    return try coding.value(of: item, from: backendName)
  }

  /// Stores a value under a key, or removes the item, suspending the task.
  package nonisolated(nonsending) func setValue<Value>(
    _ value: Value?, for key: ItemKey, as coding: ItemCoding<Value>,
    mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    guard let value else {
      try await remove(key)
      return
    }
    try await saveWithoutBlocking(item(for: key, as: coding, value), mode: mode)
  }

  func item<Value>(
    for key: ItemKey, as coding: ItemCoding<Value>, _ value: Value
  ) throws(SecureStorageError) -> SecureItem {
    var item = SecureItem(key: key)
    do {
      try coding.encode(value, &item)
    } catch {
      // The encoder's error could quote the value.
      throw self.error(
        .invalidArgument, during: .save,
        message: "The value can't be encoded.", argument: "value")
    }
    return item
  }
}
