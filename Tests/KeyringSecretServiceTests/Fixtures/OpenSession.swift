#if SecretService && os(Linux)
@testable import KeyringSecretService

/// The session that this process has open with the provider on a bus: that of the private session, if
/// no other is named.
func openSession(at address: String? = nil) throws -> SecretSession {
  try SessionPool.shared.session(
    at: address, asking: { [] }, until: Deadline(after: .seconds(25))
  ).session
}
#endif
