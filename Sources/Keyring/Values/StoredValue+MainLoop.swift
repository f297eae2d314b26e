// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// The items for whose values the main loop has waited.
private let itemsWaitedFor = Mutex<Set<ItemKey>>([])

extension StoredValue {
  /// Reports that the main loop has waited for the value, once in each process.
  // Not inlined: it would take the place of what is nearly always all.
  @inline(never)
  func reportWait(during operation: SecureStorageError.Operation) {
    let key = currentKey
    guard let wait = MainLoop.lastWaitHere,
      itemsWaitedFor.withLock({ $0.insert(key).inserted })
    else { return }
    let seconds = (wait / .milliseconds(100)).rounded() / 10
    let error = chosenStorage.storage.error(
      .mainLoopBlocked, during: operation, message: "It blocked the main loop for \(seconds) s.")
    SecureStorageDefaults.report(SecurePropertyFailure(property: name, error: error))
  }
}
