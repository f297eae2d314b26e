// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CKeyringLibSecret

extension SecretSession {
  /// Connects to the bus, starts the provider if necessary, and opens a session with it.
  ///
  /// - Parameters:
  ///   - address: The address of the bus, or `nil` for the session bus.
  ///   - questions: Messages that need no session. They're sent while the session is being opened, unless
  ///     there are more than may be sent concurrently, or the provider can't be asked yet.
  ///   - deadline: The deadline of the call.
  /// - Returns: The session and the answers. The answers are `nil` unless the provider has answered every
  ///   question.
  /// - Throws: The reason why no session can be opened.
  static func open(
    address: String?, asking questions: [MethodCall], until deadline: Deadline
  ) async throws(OpeningFailure) -> (session: SecretSession, answers: [Variant]?) {
    let connection: BusConnection
    do throws(DBusError) {
      connection = try await .open(address: address, until: deadline)
    } catch {
      throw OpeningFailure(connecting: error, to: address)
    }
    do throws(DBusError) {
      return try await connection.startingProvider(until: deadline) { () async throws(DBusError) in
        try await open(on: connection, asking: questions, until: deadline)
      }
    } catch {
      throw await OpeningFailure(opening: error, on: connection, until: deadline)
    }
  }

  /// Opens a session with the provider that is running.
  ///
  /// - Throws: `DBusError.noProvider` if none is running. If it ends meanwhile, or another takes its place, the
  ///   connection to it is lost.
  private static func open(
    on connection: BusConnection, asking questions: [MethodCall], until deadline: Deadline
  ) async throws(DBusError) -> (session: SecretSession, answers: [Variant]?) {
    let (service, found) = try await service(on: connection, until: deadline)
    var provider = try await connection.readyProvider(found, until: deadline)
    // A provider that hides the items of a locked collection is asked for the lock before it's searched.
    let canAsk = provider.listsLockedItems && questions.count < BusConnection.maxInFlight
    let answers = try await openSession(
      of: service, with: provider, on: connection, asking: canAsk ? questions : [],
      until: deadline)
    // A provider that was slow may not have owned its names before.
    if !provider.isKnown {
      provider = try await connection.provider(provider.uniqueName, until: deadline)
    }
    guard owner(of: service) == provider.uniqueName,
      let session = SecretSession(connection: connection, service: service, provider: provider)
    else { throw .providerHasQuit }
    return (session, answers.count == questions.count ? answers : nil)
  }

  /// Returns libsecret's service object, which has no session yet, and the provider that it's for.
  private static func service(
    on connection: BusConnection, until deadline: Deadline
  ) async throws(DBusError) -> (GLibReference, Provider) {
    let service = try newService(on: connection)
    let start: CallLoop.Start = { cancellable, callback, data in
      g_async_initable_init_async(service.pointer, G_PRIORITY_DEFAULT, cancellable, callback, data)
    }
    let questions = Provider.ownerQuestions
    let results = try await CallLoop.results(
      of: [start] + questions.map { connection.starting($0, to: nil) }, until: deadline)
    try check { g_async_initable_init_finish(service.pointer, results[0].pointer, &$0) }
    guard let owner = owner(of: service) else { throw .noProvider }
    let owners = zip(questions, results.dropFirst()).map { connection.answer($1, to: $0) }
    return (service, Provider(owner, answers: owners))
  }

  /// Opens the session, and tries again if the provider refuses the session's key or may not have been ready.
  ///
  /// Some providers refuse a key that begins with a zero byte, which is about one in 256.
  ///
  /// - Returns: The answers other than errors.
  /// - Throws: `DBusError.providerHasQuit` if the provider is another one by now, or none.
  private static func openSession(
    of service: GLibReference, with provider: Provider, on connection: BusConnection,
    asking questions: [MethodCall], until deadline: Deadline
  ) async throws(DBusError) -> [Variant] {
    let start: CallLoop.Start = { cancellable, callback, data in
      secret_service_ensure_session(
        UnsafeMutablePointer(service.pointer), cancellable, callback, data)
    }
    let receiver = Variant.string(provider.uniqueName)
    var refusals = 0
    // A provider that has just started may lose the message, on a busy machine more than once. After these times, it's
    // only slow.
    var patience: [Duration] = provider.isReadyOnceStarted ? [] : [.seconds(1), .seconds(4)]
    while true {
      let end = patience.first.map { Deadline(after: min($0, deadline.remaining)) } ?? deadline
      // Another provider may need more care, and without one, GLib 2.74 leaks the message.
      guard owner(of: service) == provider.uniqueName else { throw .providerHasQuit }
      do throws(DBusError) {
        let results = try await CallLoop.results(
          of: [start] + questions.map { connection.starting($0, to: receiver) },
          until: end)
        try check {
          secret_service_ensure_session_finish(
            UnsafeMutablePointer(service.pointer), results[0].pointer, &$0)
        }
        return zip(questions, results.dropFirst()).compactMap {
          try? connection.answer($1, to: $0).get()
        }
      } catch {
        if error.isInvalidArgument, refusals < 3 {
          refusals += 1
        } else if !patience.isEmpty, end.failure != nil, deadline.failure == nil {
          patience.removeFirst()
        } else if deadline.failure == nil,
          error.isWithoutReceiver || owner(of: service) != provider.uniqueName
        {
          throw .providerHasQuit
        } else {
          throw error
        }
      }
    }
  }

  /// Calls a function of GLib that returns whether it has succeeded, and throws the error that it sets.
  private static func check(
    _ body: (inout UnsafeMutablePointer<GError>?) -> gboolean
  ) throws(DBusError) {
    _ = try DBusError.check { body(&$0) != 0 ? true : nil }
  }

  /// Returns the unique name of the service's provider, or `nil`.
  private static func owner(of service: GLibReference) -> String? {
    guard let owner = g_dbus_proxy_get_name_owner(UnsafeMutablePointer(service.pointer)) else {
      return nil
    }
    defer { g_free(owner) }
    return String(cString: owner)
  }

  private static func newService(
    on connection: BusConnection
  ) throws(DBusError) -> GLibReference {
    var value = GValue()
    g_value_init(&value, g_dbus_connection_get_type())
    g_value_set_object(&value, gpointer(connection.reference.pointer))
    defer { g_value_unset(&value) }
    let service = "g-connection".withCString {
      var name: UnsafePointer<CChar>? = $0
      return CallLoop.current.asDefault {
        g_object_new_with_properties(SecretServiceClass.type, 1, &name, &value)
      }
    }
    guard let service else {
      throw DBusError(domain: "glib", code: 0, text: "libsecret didn't create a service object")
    }
    return .object(adopting: OpaquePointer(service), madeIn: CallLoop.current.shared)
  }
}

extension DBusError {
  fileprivate static let providerHasQuit = DBusError(
    domain: "swift-keyring", code: 0, text: "the provider quit while the session was being opened",
    remoteName: "org.freedesktop.DBus.Error.NoReply")

  fileprivate static let noProvider = DBusError(
    domain: "swift-keyring", code: 0, text: "no program provides the Secret Service",
    remoteName: "org.freedesktop.DBus.Error.NameHasNoOwner")
}

/// A subclass of libsecret's SecretService that uses a given connection.
///
/// libsecret's own class always uses the process's shared connection to the session bus. That connection
/// belongs to the app, and once it's lost it stays closed for the life of the process. libsecret's class is
/// made to be subclassed. After its constructor has chosen the bus, the subclass resets that choice. It
/// also turns off the properties and signals that this package never reads, and the start of the provider,
/// after which some providers need time.
private enum SecretServiceClass {
  static let type: GType = {
    let parent = secret_service_get_type()
    var query = GTypeQuery()
    g_type_query(parent, &query)
    return g_type_register_static_simple(
      parent, "SwiftKeyringSecretService", query.class_size, initializeClass,
      query.instance_size, nil, GTypeFlags(rawValue: 0))
  }()

  private static let initializeClass: GClassInitFunc = { gClass, _ in
    gClass?.assumingMemoryBound(to: GObjectClass.self).pointee.constructor = {
      type, count, parameters in
      let parent = g_type_class_peek(secret_service_get_type())
      let object = parent?.assumingMemoryBound(to: GObjectClass.self)
        .pointee.constructor(type, count, parameters)
      guard let object else { return nil }
      set(object, "g-bus-type", g_bus_type_get_type()) {
        g_value_set_enum($0, gint(bitPattern: 0))
      }
      set(object, "g-flags", g_dbus_proxy_flags_get_type()) {
        g_value_set_flags(
          $0,
          G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES.rawValue
            | G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS.rawValue
            | G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START.rawValue)
      }
      return object
    }
  }

  private static func set(
    _ object: UnsafeMutablePointer<GObject>, _ property: String, _ type: GType,
    _ fill: (UnsafeMutablePointer<GValue>) -> Void
  ) {
    var value = GValue()
    g_value_init(&value, type)
    fill(&value)
    g_object_set_property(object, property, &value)
    g_value_unset(&value)
  }
}
#endif
