internal import KeyringStorage

/// A secure property of whatever type, as one of many.
protocol SecurePropertyMember: Sendable {
  var name: String { get }
  var key: ItemKey { get }
  var storage: any SecureStorage { get }
  var hasExplicitStorage: Bool { get }
  var details: ItemQuery.Details { get }
  var identity: ObjectIdentifier { get }
  var failure: SecureStorageError? { get }
  var resolvedMember: any SecurePropertyMember { get }

  func exists() throws(SecureStorageError) -> Bool
  func remove() throws(SecureStorageError) -> Bool
  nonisolated(nonsending) func removeWithoutBlocking() async throws(SecureStorageError) -> Bool
  func plaintextItem(at path: [String]) -> PlaintextItem
}

extension SecureProperty: SecurePropertyMember {
  var details: ItemQuery.Details { coding.details }
  var resolvedMember: any SecurePropertyMember { resolved }

  nonisolated(nonsending) func removeWithoutBlocking() async throws(SecureStorageError) -> Bool {
    try await remove()
  }

  func plaintextItem(at path: [String]) -> PlaintextItem {
    PlaintextItem(path: path, as: key, coding: coding)
  }
}

/// A property wrapper that a secure property is declared with.
protocol SecurePropertyWrapper {
  associatedtype Stored: Sendable
  var projectedValue: SecureProperty<Stored> { get }
}

extension Password: SecurePropertyWrapper {}
extension Credentials: SecurePropertyWrapper {}
extension InternetPassword: SecurePropertyWrapper {}
extension SecureValue: SecurePropertyWrapper {}

/// Finds the secure properties of a value by reflection, each once.
struct PropertyFinder {
  private(set) var members: [any SecurePropertyMember] = []
  private var seen: Set<ObjectIdentifier> = []

  mutating func visit(_ value: Any) {
    if let wrapper = value as? any SecurePropertyWrapper { return add(wrapper) }
    let mirror = Mirror(reflecting: value)
    // An object may be reached in several ways, and from itself.
    if mirror.displayStyle == .class || mirror.displayStyle == .foreignReference {
      guard seen.insert(ObjectIdentifier(value as AnyObject)).inserted else { return }
    }
    var level: Mirror? = mirror
    while let current = level {
      for child in current.children { visit(child.value) }
      level = current.superclassMirror
    }
  }

  private mutating func add(_ wrapper: some SecurePropertyWrapper) {
    let property = wrapper.projectedValue
    if seen.insert(property.identity).inserted { members.append(property) }
  }
}
