#if SecretService && os(Linux)
internal import CLibSecret
internal import KeyringStorage
internal import Synchronization

/// A connection to the bus and a session with the provider on it, in which secrets are encrypted.
///
/// It serves any number of threads. When bus or provider are lost it is lost too, and every message
/// fails; a new one is opened then. Messages go to the provider's unique name, so that none ever
/// reaches a provider that has taken over the name since and does not know the session.
final class SecretSession: Sendable {
  let connection: BusConnection
  private let service: GLibReference
  let provider: Provider
  /// The session's object, which says how a secret is encrypted.
  let path: ObjectPath
  /// Where the items are that were met in this session.
  let itemPlaces = ItemPlaces()
  /// The collection that was last chosen to stand for the default one.
  let chosenCollection = Mutex<ObjectPath?>(nil)
  /// The questions to unlock something that are open, by what they unlock.
  let unlockings = Mutex<[Set<ObjectPath>: SharedOutcome<Unlocking>]>([:])
  /// The number of waits for answers so far; tests compare it with the documentation.
  let waits = Atomic(0)

  /// - Parameters:
  ///   - connection: The connection to the bus.
  ///   - service: libsecret's object, which has opened the session.
  ///   - owners: The unique names of the programs that own the names of known providers.
  init?(connection: BusConnection, service: GLibReference, owners: [String: String]) {
    guard let owner = g_dbus_proxy_get_name_owner(UnsafeMutablePointer(service.pointer)) else {
      return nil
    }
    defer { g_free(owner) }
    let pointer = UnsafeMutablePointer<SecretService>(service.pointer)
    guard let path = secret_service_get_session_dbus_path(pointer) else { return nil }
    self.connection = connection
    self.service = service
    self.provider = Provider(String(cString: owner), owners: owners)
    self.path = ObjectPath(String(cString: path))
  }

  /// Sends messages side by side and waits for all the answers.
  ///
  /// - Returns: For each message its answer, or what it failed with.
  /// - Throws: Only when the deadline passed.
  func send(
    _ messages: [Message], until deadline: Deadline, onFlight: (Int) -> Void = { _ in }
  ) async throws(BusFailure) -> [Result<Variant, BusFailure>] {
    waits.add(1, ordering: .relaxed)
    return try await connection.send(
      messages, to: provider.uniqueName, until: deadline, onFlight: onFlight)
  }

  /// How secrets are encrypted on the bus, in the specification's words; "plain" for not at all.
  var algorithm: String? {
    secret_service_get_session_algorithms(UnsafeMutablePointer(service.pointer))
      .map { String(cString: $0) }
  }

  /// Whether the bus has ended the connection; its signal would go to a context nobody iterates.
  var isClosed: Bool { connection.isClosed }

  /// Calls a closure when a signal of the provider, or about it, arrives in the context.
  ///
  /// - Returns: A closure that ends the subscription.
  func subscribe(
    to signal: BusSignal, _ handler: @escaping (Variant) -> Void
  ) -> () -> Void {
    connection.subscribe(to: signal) { handler($0.arguments) }
  }
}

// MARK: - Names on the bus

extension SecretSession {
  /// The unique name of who owns a name on the bus; `nil` when nobody does.
  func owner(of name: String, until deadline: Deadline) async throws(BusFailure) -> String? {
    let result = try await send([.owner(of: name)], until: deadline)[0]
    return try? result.get().child(0).text
  }
}

// MARK: - Secrets

extension SecretSession {
  /// Encrypts a secret for the provider.
  func encode(_ secret: Secret) -> Variant? {
    guard let value = LentSecret.value(of: secret) else { return nil }
    defer { secret_value_unref(gpointer(value)) }
    return secret_service_encode_dbus_secret(UnsafeMutablePointer(service.pointer), value)
      .map { Variant(adopting: $0) }
  }

  /// Decrypts a secret of type `(oayays)`; `nil` when it is not encrypted for this session.
  func decode(_ encoded: Variant) -> Secret? {
    let value = secret_service_decode_dbus_secret(
      UnsafeMutablePointer(service.pointer), encoded.pointer)
    guard let value else { return nil }
    defer { secret_value_unref(gpointer(value)) }
    var count: gsize = 0
    let bytes = UnsafeMutableRawBufferPointer(
      start: UnsafeMutableRawPointer(mutating: secret_value_get(value, &count)), count: Int(count))
    // libsecret 0.20.5 wipes only what it could lock in memory, and where it cannot uses malloc.
    defer { if let address = bytes.baseAddress { explicit_bzero(address, bytes.count) } }
    return Secret(copying: UnsafeRawBufferPointer(bytes))
  }
}
#endif
