// SPDX-License-Identifier: Apache-2.0

public import KeyringPlatform
internal import KeyringStorage

/// The times of a property's item.
///
/// A property whose value has expired still has its value. Check ``isExpired`` to renew it in time:
///
/// ```swift
/// if try settings.$authToken.dates()?.isExpired == true { print("Renew the token.") }
/// ```
public struct ItemDates: Sendable, Hashable {
  /// The time at which the item was first stored, or `nil` if the storage doesn't report it.
  ///
  /// On the Secret Service, a write that changes the time of expiry replaces the item. This is then the time of
  /// that write.
  public let created: Date?
  /// The time at which the item was last changed, or `nil` if the storage doesn't report it.
  public let modified: Date?
  /// The time at which the value expires, or `nil` if it doesn't.
  public let expires: Date?

  init(_ item: SecureItem) {
    (created, modified, expires) = (item.created, item.modified, item.expires)
  }

  /// Whether the value has expired.
  public var isExpired: Bool { expires.map { $0 <= Date.now } ?? false }
}

extension SecureProperty {
  /// Returns the times of the item, without fetching the value.
  ///
  /// - Returns: The times, or `nil` if there is no item.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func dates() throws(SecureStorageError) -> ItemDates? {
    let value = projectedValue
    value.noteRead()
    try value.takeOver()
    return try value.chosenStorage.storage.item(for: value.currentKey, details: .metadata).map(
      ItemDates.init)
  }

  /// Returns the times of the item, without fetching the value and without blocking the task's thread.
  ///
  /// - Returns: The times, or `nil` if there is no item.
  /// - Throws: `SecureStorageError` if the storage can't be read, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func dates() async throws(SecureStorageError) -> ItemDates? {
    let value = projectedValue
    try await value.takeOver()
    return try await value.chosenStorage.storage.item(for: value.currentKey, details: .metadata)
      .map(ItemDates.init)
  }
}
