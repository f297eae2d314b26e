// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// The storage and the handler that a task uses in place of those of the process.
final class TaskOverride: Sendable {
  let storage: StorageBox
  let failureHandler: (@Sendable (SecurePropertyFailure) -> Void)?

  /// Creates an override with a storage and a handler, or with the handler of the current override.
  init(
    _ storage: any SecureStorage, _ failureHandler: (@Sendable (SecurePropertyFailure) -> Void)?
  ) {
    self.storage = StorageBox(storage)
    self.failureHandler = failureHandler ?? SecureStorageDefaults.override?.failureHandler
  }
}
