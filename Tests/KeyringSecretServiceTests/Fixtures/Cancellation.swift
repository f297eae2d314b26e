#if SecretService && os(Linux)
import Keyring
import Testing

/// Cancels a task once its call is under way, and expects it to end within 100 ms.
///
/// The bound in the test is wider: the machine may be busy.
func expectCancellation(
  after isUnderWay: () async throws -> Void, of body: @escaping @Sendable () async throws -> Void
) async throws {
  let task = Task { try await body() }
  try await isUnderWay()
  let start = ContinuousClock.now
  task.cancel()
  let error = await #expect(throws: SecureStorageError.self) { try await task.value }
  #expect(error?.code == .canceled)
  #expect(ContinuousClock.now - start < .seconds(2))
}
#endif
