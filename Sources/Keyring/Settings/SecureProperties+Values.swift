// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

extension SecureProperties {
  /// The values of many properties, read at the same time.
  ///
  /// ```swift
  /// let values = try SecureProperties(of: settings).readAll()
  /// let token = try values[settings.$authToken]
  /// ```
  public struct Values: Sendable {
    /// The properties that were read, and their items.
    ///
    /// A property is kept, so that no other one gets its identity.
    private var items: [ObjectIdentifier: (property: any SecurePropertyMember, item: SecureItem?)] =
      [:]

    /// Adds the items that were found in a storage.
    mutating func add(_ found: [ItemKey: SecureItem], to part: SecureProperties.Part) {
      for (member, key) in zip(part.members, part.keys) {
        items[member.identity] = (member, found[key])
      }
    }

    /// The value of a property: `values[settings.$authToken]`.
    ///
    /// ```swift
    /// let token = try values[settings.$authToken]
    /// ```
    ///
    /// - Parameter property: A property of the value that was read.
    /// - Returns: The value, or `nil`.
    /// - Throws: `.undecodable` for a value of another type, or `.invalidArgument` for a property that was left out of
    ///   the read.
    public subscript<Value>(_ property: some SecureProperty<Value>) -> Value? {
      get throws(SecureStorageError) {
        let property = property.projectedValue
        guard let found = items[property.identity] else {
          throw SecureStorageError(
            .invalidArgument, operation: .read, backendName: "SecureProperties.Values",
            message: "The property \"\(property.name)\" isn't one of those that were read.",
            argument: "property")
        }
        guard let item = found.item else { return nil }
        return try property.coding.value(of: item, from: "SecureProperties.Values")
      }
    }
  }
}
