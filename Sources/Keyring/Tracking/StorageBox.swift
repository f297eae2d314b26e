// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage
internal import Synchronization

/// A storage in an object, which is faster to copy than `any SecureStorage`.
final class StorageBox: Sendable {
  private static let lastNumber = Atomic(0)

  let storage: any SecureStorage
  /// The number of the box, which no other one ever has.
  let number = lastNumber.add(1, ordering: .relaxed).newValue

  init(_ storage: any SecureStorage) { self.storage = storage }
}
