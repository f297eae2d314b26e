#if SecretService && os(Linux)
import Keyring
import Testing

/// Cancels a task once its call is under way, and expects the call to end within 100 ms.
///
/// - Returns: Whether it did. The machine may be busy, so a test asks for one in several; a call that
///   nothing wakes looks up once a second, and is late every time.
func endsWhenCanceled(
  after isUnderWay: () async throws -> Void, _ body: @escaping @Sendable () async throws -> Void
) async throws -> Bool {
  let task = Task { try await body() }
  try await isUnderWay()
  let start = ContinuousClock.now
  task.cancel()
  let error = await #expect(throws: SecureStorageError.self) { try await task.value }
  #expect(error?.code == .canceled)
  return ContinuousClock.now - start < .milliseconds(100)
}
#endif
