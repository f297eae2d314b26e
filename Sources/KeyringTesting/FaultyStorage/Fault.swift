// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A fault that was set up on a ``FaultyStorage``.
struct Fault: Sendable {
  enum Effect: Sendable {
    case fail(@Sendable (StorageCall) -> SecureStorageError?, afterwards: Bool)
    case suspend(CallGate)
    case delay(Duration)
  }

  var operation: SecureStorageError.Operation?
  var number: Int?
  let effect: Effect
  /// The number of calls so far that the fault could apply to.
  var count = 0

  /// Returns the effect on a call to which the fault applies.
  mutating func effect(on call: StorageCall) -> Effect? {
    if let operation, operation != call.operation { return nil }
    count += 1
    return number == nil || number == count ? effect : nil
  }
}
