// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CKeyringLibSecret
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// The key of an item, and the collection that it's in.
struct ItemLocation: Hashable {
  let collection: SecretServiceStorage.Collection
  let key: ItemKey
}

/// A connection to the bus and an encrypted session with the provider on it.
///
/// A session serves any number of threads. If the bus or the provider is lost, the session is lost too, and
/// every message fails. A new session is opened then. Messages go to the provider's unique name. They never
/// reach a provider that has since taken over the service's name, to which the session is unknown.
final class SecretSession: Sendable {
  let connection: BusConnection
  private let service: GLibReference
  let provider: Provider
  /// The path of the session's object, which determines the encryption of a secret.
  let path: ObjectPath
  /// The last known paths of the items that were seen in this session.
  ///
  /// Nothing of the items' contents is kept. With a known path, an operation on the same key can ask for the
  /// item's contents before it knows that the item still exists. The operation uses nothing from here that
  /// the keyring doesn't confirm at the same time.
  let itemPaths = RecentValues<ItemLocation, ObjectPath>()
  /// The items that the last read found, if a search may miss an item that is being replaced.
  let itemsThere = RecentValues<ItemLocation, Bool>()
  /// The last times at which a collection was seen unlocked, if a provider hides the items of a locked one.
  let seenUnlocked = RecentValues<ObjectPath, ContinuousClock.Instant>()
  /// The collection that was last chosen in place of the default collection.
  let chosenCollection = Mutex<ObjectPath?>(nil)
  /// The files in which the provider keeps collections, as they were last seen.
  let collectionFiles = RecentValues<ObjectPath, CollectionFile>()
  /// The collections that are known to be the only ones with their items.
  let confirmed = RecentValues<SecretServiceStorage.Collection, Bool>()
  /// The open requests to unlock something, with the kind of the question and the objects that they unlock.
  let unlockings = Mutex<
    [(
      interaction: SecretServiceStorage.Interaction, objects: Set<ObjectPath>,
      outcome: SharedOutcome<Unlocking>
    )]
  >([])
  /// The last times at which the provider wanted a prompt to unlock something, by the collection.
  let promptsNeeded = RecentValues<ObjectPath, ContinuousClock.Instant>()

  /// Creates a session from libsecret's service object.
  ///
  /// The initializer fails for an object without a session.
  ///
  /// - Parameters:
  ///   - connection: The connection to the bus.
  ///   - service: libsecret's service object, which has opened the session.
  ///   - provider: The provider that has opened the session.
  init?(connection: BusConnection, service: GLibReference, provider: Provider) {
    let pointer = UnsafeMutablePointer<SecretService>(service.pointer)
    guard let path = secret_service_get_session_dbus_path(pointer) else { return nil }
    self.connection = connection
    self.service = service
    self.provider = provider
    self.path = ObjectPath(String(cString: path))
  }

  /// The encryption of secrets on the bus, in the specification's words.
  ///
  /// The value "plain" means that secrets aren't encrypted.
  var algorithm: String? {
    secret_service_get_session_algorithms(UnsafeMutablePointer(service.pointer))
      .map { String(cString: $0) }
  }

  /// `true` for a session that encrypts secrets on the bus.
  var isEncrypted: Bool { algorithm.map { $0 != "plain" } ?? false }
}

// MARK: - Secrets

extension SecretSession {
  /// Encrypts a secret for the provider.
  func encode(_ secret: Secret) -> Variant? {
    guard let value = BorrowedSecret.value(of: secret) else { return nil }
    defer { secret_value_unref(gpointer(value)) }
    return secret_service_encode_dbus_secret(UnsafeMutablePointer(service.pointer), value)
      .map { Variant(adopting: $0) }
  }

  /// Decrypts a secret of type `(oayays)`.
  ///
  /// - Returns: The secret, or `nil` for one that is encrypted for another session.
  func decode(_ encoded: Variant) -> Secret? {
    let value = secret_service_decode_dbus_secret(
      UnsafeMutablePointer(service.pointer), encoded.pointer)
    guard let value else { return nil }
    defer { secret_value_unref(gpointer(value)) }
    var count: gsize = 0
    let bytes = UnsafeMutableRawBufferPointer(
      start: UnsafeMutableRawPointer(mutating: secret_value_get(value, &count)), count: Int(count))
    // libsecret 0.20.5 overwrites only memory that it could lock. If it can't lock memory, it uses malloc.
    defer { bytes.zeroize() }
    return Secret(copying: UnsafeRawBufferPointer(bytes))
  }
}

// MARK: - Requests to unlock

extension SecretSession {
  /// The outcome of a request to unlock objects.
  enum Unlocking: Sendable {
    case unlocked
    case refused(SecureStorageError)
    /// The error of a prompt that was still open at the end of the call that asked.
    case unanswered(SecureStorageError, after: Duration)
    /// An unknown outcome, for example because the call that asked ran out of time.
    case abandoned
  }

  /// Returns the open request that unlocks these objects by the same kind of question, or a new one.
  func unlocking(
    _ objects: [ObjectPath], _ interaction: SecretServiceStorage.Interaction
  ) -> (unlocking: SharedOutcome<Unlocking>, isMine: Bool) {
    unlockings.withLock { unlockings in
      let objects = Set(objects)
      let known = unlockings.first { $0.interaction == interaction && $0.objects == objects }
      if let known { return (known.outcome, false) }
      let new = SharedOutcome<Unlocking>()
      unlockings.append((interaction, objects, new))
      return (new, true)
    }
  }

  func settle(_ unlocking: SharedOutcome<Unlocking>, _ value: Unlocking) {
    unlockings.withLock { $0.removeAll { $0.outcome === unlocking } }
    unlocking.settle(value)
  }
}
#endif
