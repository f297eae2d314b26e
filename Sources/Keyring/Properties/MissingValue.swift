/// The way a property represents a missing item: as `nil` or as a default value.
struct MissingValue<Stored: Sendable, Value: Sendable>: Sendable {
  /// The conversion of a stored value, or of `nil` if nothing is stored, to the property's value.
  let value: @Sendable (consuming Stored?) -> Value
  /// The conversion of the property's value to the value to store, or to `nil` to remove the item.
  let stored: @Sendable (Value) -> Stored?
}

extension MissingValue where Value == Stored? {
  /// The representation of a missing item as `nil`.
  static var isNil: MissingValue { MissingValue(value: { $0 }, stored: { $0 }) }
}

extension MissingValue where Value == Stored {
  /// Returns the representation of a missing item as a default value, which isn't stored.
  static func isDefault(_ value: Stored) -> MissingValue {
    MissingValue(value: { $0 ?? value }, stored: { $0 })
  }
}
