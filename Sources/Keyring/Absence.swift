/// How the value of a property says that nothing is stored.
struct Absence<Stored: Sendable, Value: Sendable>: Sendable {
  /// The property's value for what is stored, or for nothing.
  let value: @Sendable (consuming Stored?) -> Value
  /// What to store for a value; `nil` removes the item.
  let stored: @Sendable (Value) -> Stored?
}

extension Absence where Value == Stored? {
  /// By `nil`.
  static var isNil: Absence { Absence(value: { $0 }, stored: { $0 }) }
}

extension Absence where Value == Stored {
  /// By a value that is not stored itself.
  static func isDefault(_ value: Stored) -> Absence {
    Absence(value: { $0 ?? value }, stored: { $0 })
  }
}
