// SPDX-License-Identifier: Apache-2.0

public import KeyringPlatform
internal import KeyringRuntime
internal import KeyringStorage

/// The times of a property's item.
///
/// A property whose value has expired still has its value. Check ``isExpired`` to renew it in time:
///
/// ```swift
/// if try settings.$authToken.dates()?.isExpired == true { print("Renew the token.") }
/// ```
public struct ItemDates: Sendable, Hashable {
  /// The time at which the item was first stored, or `nil` for a storage that keeps no such time.
  ///
  /// On the Secret Service, a write that changes the time of expiry replaces the item. This is then the time of
  /// that write.
  public let created: Date?
  /// The time at which the item was last changed, or `nil` for a storage that keeps no such time.
  ///
  /// ```swift
  /// let modified = try settings.$authToken.dates()?.modified
  /// ```
  public let modified: Date?
  /// The time at which the value expires, or `nil`.
  public let expires: Date?

  init(_ item: SecureItem) {
    (created, modified, expires) = (item.created, item.modified, item.expires)
  }

  /// Whether the value has expired.
  ///
  /// ```swift
  /// if try settings.$authToken.dates()?.isExpired == true { settings.authToken = nil }
  /// ```
  public var isExpired: Bool { expires.map { $0 <= CurrentDate.now } ?? false }
}

extension SecureProperty {
  /// Looks up the times of the item, without fetching the value.
  ///
  /// ```swift
  /// if let expires = try settings.$authToken.dates()?.expires { print("valid until \(expires)") }
  /// ```
  ///
  /// - Returns: The times, or `nil` for a missing item.
  /// - Throws: `SecureStorageError` for a failed read.
  public func dates() throws(SecureStorageError) -> ItemDates? {
    projectedValue.noteRead()
    return try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in try await dates() }
  }

  /// Looks up the times of the item asynchronously, without fetching the value.
  ///
  /// ```swift
  /// let dates = try await settings.$authToken.dates()
  /// ```
  ///
  /// - Returns: The times, or `nil` for a missing item.
  /// - Throws: `SecureStorageError` for a failed read, or `.canceled` for a cancelled task.
  public nonisolated(nonsending) func dates() async throws(SecureStorageError) -> ItemDates? {
    let value = projectedValue
    try await value.takeOver()
    return try await value.chosenStorage.storage.item(for: value.currentKey, details: .metadata)
      .map(ItemDates.init)
  }
}
