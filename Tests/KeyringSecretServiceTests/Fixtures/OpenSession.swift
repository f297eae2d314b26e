// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import Testing

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

extension CallLoop {
  /// Runs an operation to its end on this thread, which has enough file descriptors.
  static func runToEnd<Result, Failure: Error>(
    _ body: () async throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try runToEnd(orThrow: { fatalError("\($0.text)") }, body)
  }
}

extension SecretSession {
  /// Sends messages at the same time, and waits on this thread for all the answers.
  func send(_ messages: [MethodCall]) throws(DBusError) -> [Result<Variant, DBusError>] {
    try CallLoop.runToEnd { () async throws(DBusError) in
      try await connection.send(
        messages, to: provider.uniqueName, until: Deadline(after: .seconds(25)))
    }
  }

  /// Waits until this process has noticed the end of the bus.
  ///
  /// A message that is sent before may have arrived.
  func waitForEndOfBus() throws { try #require(waitUntil { connection.isClosed }) }

  /// Waits until the bus has noticed the end of the provider.
  ///
  /// A message that is sent before may have arrived.
  func waitForEndOfProvider() throws {
    let question = MethodCall.owner(of: provider.uniqueName)
    try #require(waitUntil { try send([question])[0].isWithoutReceiver })
  }

  /// Sends a message, and returns the answer.
  @discardableResult
  func ask(_ message: MethodCall) throws -> Variant {
    try send([message])[0].get()
  }

  /// Returns a text as this session sends it.
  func encoded(_ text: String) throws -> Variant { try #require(encode(Secret(text))) }

  /// Sets a secret, as another program does.
  func setSecret(_ text: String, of item: ObjectPath) throws {
    try ask(.setSecret(encoded(text), of: item))
  }

  /// Creates an item, as another program does.
  func createItem(
    _ attributes: [String: String], label: String = "Theirs", secret: String,
    replacing: Bool = false, in collection: ObjectPath = .collection(aliased: "default")
  ) throws {
    try ask(
      .createItem(
        in: collection, attributes: attributes, label: label, secret: encoded(secret),
        replacing: replacing))
  }
}

/// Counts the items in the keyring that have these attributes, including those that readers skip.
func countStoredItems(_ attributes: [String: String]) throws -> Int {
  let search = MethodCall(
    ObjectPath("/org/freedesktop/secrets"), "org.freedesktop.Secret.Service", "SearchItems",
    [.strings(attributes)], answer: "(aoao)")
  let answer = try openSession().ask(search)
  return answer.child(0).paths.count + answer.child(1).paths.count
}

/// Returns the names that programs have on the bus.
func namesOnBus() throws -> [String] {
  try openSession().ask(.toBus("ListNames", [], answer: "(as)")).child(0).children.map(\.text)
}

extension PrivateBus {
  /// Returns another connection, as another program has it.
  func connect() throws -> BusConnection {
    try CallLoop.runToEnd { () async throws(DBusError) in
      try await BusConnection.open(address: address, until: Deadline(after: .seconds(25)))
    }
  }

  /// Returns the number of connections to the bus.
  func connectionCount() throws -> Int {
    let names = try openSession(at: address).ask(.toBus("ListNames", [], answer: "(as)"))
    return names.child(0).children.count { $0.text.hasPrefix(":") }
  }

  /// Finds all items with these attributes, in every collection.
  func search(_ attributes: [String: String]) throws -> [ObjectPath] {
    let session = try openSession(at: address)
    let list = try session.ask(.collections())
    let searches = list.child(0).child(0).paths.map { MethodCall.searchItems(in: $0, attributes) }
    return try session.send(searches)
      .flatMap { try $0.get().child(0).paths }
  }
}
#endif
