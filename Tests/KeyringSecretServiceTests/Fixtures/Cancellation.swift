// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import Testing

/// Cancels a task once its call is under way, and checks that the call ends within 100 ms.
///
/// - Returns: `true` if the call ended in time. The machine may be busy, so a test requires this of
///   only one call in several. A call that nothing wakes checks once a second, and is always late.
func endsWhenCanceled(
  after isUnderWay: () async throws -> Void, _ body: @escaping @Sendable () async throws -> Void
) async throws -> Bool {
  let task = Task { try await body() }
  try await isUnderWay()
  let start = ContinuousClock.now
  task.cancel()
  await expectError(.canceled) { try await task.value }
  return ContinuousClock.now - start < .milliseconds(100)
}
#endif
