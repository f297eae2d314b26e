// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// The storage and the handler that a task uses in place of those of the process.
final class TaskOverride: Sendable {
  let storage: StorageBox
  let failureHandler: (@Sendable (SecurePropertyFailure) -> Void)?
  let context: OverrideContext
  private let outer: StorageBox?

  /// Creates an override with a storage and a handler, or with the handler of the current override.
  init(
    _ storage: any SecureStorage, _ failureHandler: (@Sendable (SecurePropertyFailure) -> Void)?
  ) {
    let outer = SecureStorageDefaults.override
    self.storage = StorageBox(storage)
    self.failureHandler = failureHandler ?? outer?.failureHandler
    self.outer = outer?.storage
    context = OverrideContext(in: outer?.context)
    context.begin(self)
  }

  /// Notifies those who track items of the outer storage, after the override has begun.
  func begin() {
    TrackedItems.didChangeStorage { [outer] item in
      outer.map(item.isIn) ?? (item.choice == .ofProcess)
    }
  }

  /// Notifies those who track items of this storage, after the override has ended.
  func end() {
    context.end()
    TrackedItems.remove { $0.isIn(storage) }
  }
}
