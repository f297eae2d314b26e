// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A storage in an object, which is faster to copy than `any SecureStorage`.
final class StorageBox: Sendable {
  let storage: any SecureStorage

  init(_ storage: any SecureStorage) { self.storage = storage }
}
