// SPDX-License-Identifier: Apache-2.0

package import KeyringStorage

/// A secure property with its value type erased.
package protocol SecurePropertyMember: Sendable {
  var name: String { get }
  var key: ItemKey { get }
  var storage: any SecureStorage { get }
  var hasExplicitStorage: Bool { get }
  var hasOldKey: Bool { get }
  var details: ItemQuery.Details { get }
  var identity: ObjectIdentifier { get }
  var failure: SecureStorageError? { get }
  var resolved: Self { get }

  func noteRead()
  /// Gives an item with an old key the key of the property.
  nonisolated(nonsending) func takeOver() async throws(SecureStorageError)
  func exists() throws(SecureStorageError) -> Bool
  nonisolated(nonsending) func removeWithoutBlocking() async throws(SecureStorageError) -> Bool
  /// Forgets the failure of an assignment, because the item was removed.
  func forgetFailure()
  /// Stores an external value in an item; returns `false` if the value has another type.
  var parse: @Sendable (ExternalValue, inout SecureItem) -> Bool { get }
}

extension StoredValue: SecurePropertyMember {
  package var details: ItemQuery.Details { coding.details }

  package nonisolated(nonsending) func removeWithoutBlocking() async throws(SecureStorageError)
    -> Bool
  {
    try await remove()
  }

  package func forgetFailure() { failures.writeSucceeded() }

  package var parse: @Sendable (ExternalValue, inout SecureItem) -> Bool { coding.parse }
}
