// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

/// The known state of an item, without its secret.
///
/// A comparison of two states shows the changes.
struct KnownItem {
  /// The key of the item, or `nil` if it's unknown.
  ///
  /// It's unknown if the provider reveals it only after an unlock, or if the package doesn't know the
  /// item's kind.
  let key: ItemKey?
  /// Whether this package created the item, so that no other key finds it.
  let isOwn: Bool
  let isLocked: Bool
  /// A hash that differs if the label, the attributes or the times differ.
  ///
  /// It's `nil` if the item may have changed although they're the same.
  var fingerprint: Int?
  /// Whether the item may have changed again without another fingerprint.
  ///
  /// Keyrings keep times in whole seconds, and the item was read in the second of its last change.
  let isRecent: Bool

  /// Whether the item is locked and its key is hidden.
  ///
  /// Some providers hide the attributes of an item until its first unlock since login.
  var isUnnamed: Bool { key == nil && isLocked }
}
#endif
