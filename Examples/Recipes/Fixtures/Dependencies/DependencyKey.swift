// SPDX-License-Identifier: Apache-2.0

// swift-dependencies 1.16.0: https://github.com/pointfreeco/swift-dependencies,
// Sources/Dependencies/DependencyKey.swift and DependencyValues.swift

package protocol TestDependencyKey<Value> {
  associatedtype Value: Sendable = Self
  static var previewValue: Value { get }
  static var testValue: Value { get }
}

package protocol DependencyKey<Value>: TestDependencyKey {
  associatedtype Value = Self
  static var liveValue: Value { get }
  static var previewValue: Value { get }
  static var testValue: Value { get }
}

extension DependencyKey {
  package static var previewValue: Value { liveValue }
}

// The library creates it, and selects the value that an app, a preview or a test gets. This one is a test's.
package struct DependencyValues: Sendable {
  private var storage: [ObjectIdentifier: any Sendable] = [:]

  package init() {}

  package subscript<Key: TestDependencyKey>(key: Key.Type) -> Key.Value {
    get { storage[ObjectIdentifier(key)] as? Key.Value ?? Key.testValue }
    set { storage[ObjectIdentifier(key)] = newValue }
  }
}
