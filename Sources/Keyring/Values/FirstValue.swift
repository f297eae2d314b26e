// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// The first value of a property whose item is missing.
///
/// It's in a box of its own, because few properties have one, and all of them are copied.
indirect enum FirstValue<Value: Sendable>: Sendable {
  /// A new value, which is stored.
  case generated(@Sendable () -> Value)
  /// The value of the item with another key, which gets the key of the property.
  case moved(from: ItemKey)
}

extension FirstValue {
  /// Creates the first value of a property that may have had another key.
  init?(movedFrom key: ItemKey?) {
    guard let key else { return nil }
    self = .moved(from: key)
  }
}
