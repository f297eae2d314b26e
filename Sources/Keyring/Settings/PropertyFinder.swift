// SPDX-License-Identifier: Apache-2.0

package import KeyringStorage

/// A secure property with its value type erased.
package protocol SecurePropertyMember: AnySecureProperty {
  var name: String { get }
  var key: ItemKey { get }
  var storage: any SecureStorage { get }
  var hasExplicitStorage: Bool { get }
  var details: ItemQuery.Details { get }
  var identity: ObjectIdentifier { get }
  var failure: SecureStorageError? { get }
  var resolved: Self { get }

  func exists() throws(SecureStorageError) -> Bool
  nonisolated(nonsending) func removeWithoutBlocking() async throws(SecureStorageError) -> Bool
  /// Forgets the failure of an assignment, because the item was removed.
  func forgetFailure()
  /// Stores an external value in an item; returns `false` if the value has another type.
  var parse: @Sendable (ExternalValue, inout SecureItem) -> Bool { get }
}

extension SecureProperty: SecurePropertyMember {
  package var details: ItemQuery.Details { coding.details }

  package nonisolated(nonsending) func removeWithoutBlocking() async throws(SecureStorageError)
    -> Bool
  {
    try await remove()
  }

  package func forgetFailure() { failures.writeSucceeded() }

  package var parse: @Sendable (ExternalValue, inout SecureItem) -> Bool { coding.parse }
}

/// A property wrapper that declares a secure property.
protocol SecurePropertyWrapper {
  associatedtype Stored: Sendable
  var projectedValue: SecureProperty<Stored> { get }
}

extension Password: SecurePropertyWrapper {}
extension Credentials: SecurePropertyWrapper {}
extension InternetPassword: SecurePropertyWrapper {}
extension SecureValue: SecurePropertyWrapper {}

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
    if mirror.displayStyle == .class || mirror.displayStyle == .foreignReference {
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
