// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A finder that collects the secure properties of a value by reflection, each of them once.
struct PropertyFinder {
  private(set) var members: [any SecurePropertyMember] = []
  private var seen: Set<ObjectIdentifier> = []

  /// Adds the properties of a value.
  ///
  /// - Parameter value: The value.
  /// - Throws: `.invalidArgument` if a list has something else than the projected values of properties.
  mutating func visit(_ value: Any) throws(SecureStorageError) {
    if let list = value as? any SecurePropertyList {
      for property in list.secureProperties {
        guard let member = property as? any SecurePropertyMember else {
          // Otherwise, a logout would leave it out and succeed.
          throw SecureStorageError(
            .invalidArgument, operation: .read, backendName: "SecureProperties",
            message: "\(type(of: value)) lists a value of the type \(type(of: property)).",
            recoverySuggestion: "List the projected values of properties, such as $authToken.",
            argument: "settings")
        }
        add(member)
      }
      return
    }
    if let wrapper = value as? any SecurePropertyWrapper { return add(wrapper) }
    let mirror = Mirror(reflecting: value)
    // An object can be reachable in several ways, including from itself.
    if mirror.displayStyle == .class {
      guard seen.insert(ObjectIdentifier(value as AnyObject)).inserted else { return }
    }
    var level: Mirror? = mirror
    while let current = level {
      for child in current.children { try visit(child.value) }
      level = current.superclassMirror
    }
  }

  private mutating func add(_ wrapper: some SecurePropertyWrapper) {
    add(wrapper.projectedValue)
  }

  private mutating func add(_ member: any SecurePropertyMember) {
    if seen.insert(member.identity).inserted { members.append(member) }
  }
}
