// SPDX-License-Identifier: Apache-2.0

/// A finder that collects the secure properties of a value by reflection, each of them once.
struct PropertyFinder {
  private(set) var members: [any SecurePropertyMember] = []
  private var seen: Set<ObjectIdentifier> = []

  /// Adds the properties of a value.
  mutating func visit(_ value: Any) {
    if let list = value as? any SecurePropertyList {
      for property in list.secureProperties { add(property) }
      return
    }
    if let property = value as? any SecureProperty { return add(property) }
    let mirror = Mirror(reflecting: value)
    // An object can be reachable in several ways, including from itself.
    if mirror.displayStyle == .class {
      guard seen.insert(ObjectIdentifier(value as AnyObject)).inserted else { return }
    }
    var level: Mirror? = mirror
    while let current = level {
      for child in current.children { visit(child.value) }
      level = current.superclassMirror
    }
  }

  private mutating func add(_ property: some SecureProperty) {
    let member = property.projectedValue
    if seen.insert(member.identity).inserted { members.append(member) }
  }
}
