// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
@testable import KeyringSecretService

/// Returns this process's session with the provider on a bus.
///
/// By default, the bus is that of the private session.
func openSession(at address: String? = nil) throws -> SecretSession {
  try CallLoop.runToEnd { () async throws(SecretSession.OpeningFailure) in
    try await SessionCache.shared.session(
      at: address, asking: { [] }, until: Deadline(after: .seconds(25)))
  }.session
}

extension SecretSession {
  /// Sends messages at the same time, and waits on this thread for all the answers.
  func send(
    _ messages: [MethodCall], until deadline: Deadline
  ) throws(DBusError) -> [Result<Variant, DBusError>] {
    try CallLoop.runToEnd { () async throws(DBusError) in
      try await self.send(messages, until: deadline)
    }
  }
}

extension PrivateBus {
  /// Finds all items with these attributes, in every collection.
  func search(_ attributes: [String: String]) throws -> [ObjectPath] {
    let session = try openSession(at: address)
    let list = try session.send([.collections()], until: Deadline(after: .seconds(25)))[0].get()
    let searches = list.child(0).child(0).paths.map { MethodCall.searchItems(in: $0, attributes) }
    return try session.send(searches, until: Deadline(after: .seconds(25)))
      .flatMap { try $0.get().child(0).paths }
  }
}
#endif
