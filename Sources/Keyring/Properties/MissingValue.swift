// SPDX-License-Identifier: Apache-2.0

/// The value of a property whose item is missing: `nil` or a default.
///
/// The closures know the type of the stored value. Without them, each access of a generic property wrapper
/// would look up the metadata of several types.
struct MissingValue<Stored: Sendable, Value: Sendable>: Sendable {
  /// Returns the property's value, or what stands for a missing item.
  let read: @Sendable (StoredValue<Stored>) -> Value
  /// Assigns a value to the property, or removes the item if the value stands for a missing one.
  let assign: @Sendable (StoredValue<Stored>, Value) -> Void
  /// The value that stands for a missing item, as text.
  let description: String
}

/// The text of a missing value, in place of the closures, when a program prints its settings.
extension MissingValue: CustomStringConvertible, CustomReflectable {
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension MissingValue where Value == Stored? {
  /// A missing item is `nil`.
  static var isNil: MissingValue {
    MissingValue(read: { $0.value }, assign: { $0.value = $1 }, description: "nil")
  }
}

extension MissingValue where Value == Stored {
  /// Returns a default for a missing item, which isn't stored.
  static func isDefault(_ value: Stored) -> MissingValue {
    MissingValue(
      read: { $0.value ?? value }, assign: { $0.value = $1 }, description: "a default")
  }
}
