// SPDX-License-Identifier: Apache-2.0

/// The turn of one caller to change the item of a key, while others wait for theirs.
///
/// A storage returns one from ``SecureStorage/takeTurnWithoutBlocking(for:details:timeout:)``. It ends with the process
/// that has it, and no time ends it while that process lives, even if it's stopped.
///
/// Those who take no turn may change the item meanwhile.
public protocol ItemTurn: Sendable {
  /// Finds the item as it is now, with the details that the turn was taken for.
  ///
  /// - Returns: The item, or `nil` for an absent one.
  /// - Throws: `.turnLost` for a turn that has ended, or another error of the storage.
  nonisolated(nonsending) func item() async throws(SecureStorageError) -> SecureItem?

  /// Stores or removes the item, unless it has changed since it was found.
  ///
  /// A storage that can't compare and store in one step looks at the item last, and stores it right after that. A
  /// storage may end the turn together with a change.
  ///
  /// - Parameters:
  ///   - item: The item to store, or `nil` to remove it.
  ///   - old: The item as ``item()`` has found it, or `nil`. Compare it with ``SecureItem/hasSameContent(as:)``.
  /// - Returns: `false` for an item that has changed and was left alone.
  /// - Throws: `.turnLost` for a turn that has ended, which stores nothing, or another error of the storage.
  nonisolated(nonsending) func save(
    _ item: SecureItem?, replacing old: SecureItem?
  ) async throws(SecureStorageError) -> Bool

  /// Calls a closure if the turn ends before ``end()``, for example because a connection is lost.
  ///
  /// If it has ended already, the closure is called at once.
  ///
  /// The default never calls it.
  ///
  /// - Parameter handler: The closure to call, at most once and on any thread.
  func whenLost(_ handler: @escaping @Sendable () -> Void)

  /// Ends the turn, so that the next one can begin.
  ///
  /// It's called exactly once, also in a cancelled task.
  nonisolated(nonsending) func end() async
}

extension ItemTurn {
  /// Does nothing, for a turn that is never lost.
  public func whenLost(_ handler: @escaping @Sendable () -> Void) {}
}

extension SecureItem {
  /// Compares the secrets and, where both have them, the attributes of two items with the same key.
  ///
  /// ```swift
  /// guard stored?.hasSameContent(as: old) ?? (old == nil) else { return false }
  /// ```
  ///
  /// - Parameter other: The other item.
  /// - Returns: `true` for items with the same content. Times and labels don't count.
  public func hasSameContent(as other: SecureItem?) -> Bool {
    guard let other, secret == other.secret else { return false }
    guard let attributes, let others = other.attributes else { return true }
    return attributes == others
  }
}
