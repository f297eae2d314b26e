// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CLibSecret
internal import KeyringStorage

extension SecretSession {
  /// Connects to the bus, starts the provider if necessary, and opens a session with it.
  ///
  /// - Parameters:
  ///   - address: The address of the bus, or `nil` for the session bus.
  ///   - questions: Messages that need no session. They're sent while the session is being opened, unless
  ///     there are more than may be sent concurrently.
  ///   - deadline: The deadline of the call.
  /// - Returns: The session and the answers. The answers are `nil` unless the session's provider was
  ///   already running and has answered every question.
  /// - Throws: `OpeningFailure` if no session can be opened.
  static func open(
    address: String?, asking questions: [MethodCall], until deadline: Deadline
  ) async throws(OpeningFailure) -> (session: SecretSession, answers: [Variant]?) {
    let questions =
      questions.count < BusConnection.maxInFlight - Provider.names.count ? questions : []
    let connection: BusConnection
    do throws(DBusError) {
      connection = try await .open(address: address, until: deadline)
    } catch {
      throw OpeningFailure(connecting: error)
    }
    do throws(DBusError) {
      // The names that the provider owns identify it.
      let owners = Provider.names.map { MethodCall.owner(of: $0) }
      let (service, results) = try await startingProvider(on: connection, until: deadline) {
        () async throws(DBusError) in
        try await openServiceWithAnyKey(on: connection, asking: owners + questions, deadline)
      }
      let names = zip(owners, results).map {
        connection.answer($1, to: $0, from: MethodCall.bus)?.child(0).text
      }
      guard let owner = owner(of: service) else { throw .providerHasQuit }
      var provider = Provider(
        owner,
        owners: Dictionary(uniqueKeysWithValues: zip(Provider.names, names))
          .compactMapValues(\.self))
      // The bus may have started the provider for this session, and then it had no other name at first.
      let wasRunning = provider.isKnown
      if !wasRunning { provider = try await connection.provider(owner, until: deadline) }
      guard
        let session = SecretSession(connection: connection, service: service, provider: provider)
      else { throw .providerHasQuit }
      let answers = zip(questions, results.dropFirst(owners.count)).compactMap {
        connection.answer($1, to: $0, from: owner)
      }
      let isComplete = wasRunning && !answers.isEmpty && answers.count == questions.count
      return (session, isComplete ? answers : nil)
    } catch {
      throw await OpeningFailure(opening: error, on: connection, until: deadline)
    }
  }

  /// Opens the service, and tries again if the provider refuses the session's key.
  ///
  /// Some providers refuse a key that begins with a zero byte, which is about one in 256.
  private static func openServiceWithAnyKey(
    on connection: BusConnection, asking questions: [MethodCall], _ deadline: Deadline
  ) async throws(DBusError) -> (service: GLibReference, results: [GLibReference]) {
    for _ in 0..<3 {
      do throws(DBusError) {
        return try await openService(on: connection, asking: questions, deadline)
      } catch {
        guard error.isInvalidArgument else { throw error }
      }
    }
    return try await openService(on: connection, asking: questions, deadline)
  }

  private static func openService(
    on connection: BusConnection, asking questions: [MethodCall], _ deadline: Deadline
  ) async throws(DBusError) -> (service: GLibReference, results: [GLibReference]) {
    guard let service = newService(on: connection) else {
      throw DBusError(domain: "glib", code: 0, text: "libsecret didn't create a service object")
    }
    let opening: CallLoop.Start = { cancellable, callback, data in
      g_async_initable_init_async(service.pointer, G_PRIORITY_DEFAULT, cancellable, callback, data)
    }
    let results = try await CallLoop.results(
      of: [opening]
        + questions.map { connection.starting($0, to: $0.receiver ?? MethodCall.secrets) },
      until: deadline)
    var error: UnsafeMutablePointer<GError>?
    guard let result = results.first,
      g_async_initable_init_finish(service.pointer, result.pointer, &error) != 0
    else { throw DBusError(adopting: error) }
    return (service, Array(results.dropFirst()))
  }

  /// Returns the unique name of the provider that has opened the session, or `nil` if it has left.
  private static func owner(of service: GLibReference) -> String? {
    guard let owner = g_dbus_proxy_get_name_owner(UnsafeMutablePointer(service.pointer)) else {
      return nil
    }
    defer { g_free(owner) }
    return String(cString: owner)
  }

  private static func newService(
    on connection: BusConnection
  ) -> GLibReference? {
    var values = [GValue(), GValue()]
    g_value_init(&values[0], g_dbus_connection_get_type())
    g_value_set_object(&values[0], gpointer(connection.reference.pointer))
    g_value_init(&values[1], secret_service_flags_get_type())
    g_value_set_flags(&values[1], SECRET_SERVICE_OPEN_SESSION.rawValue)
    defer { for index in values.indices { g_value_unset(&values[index]) } }
    return "g-connection".withCString { connectionName in
      "flags".withCString { flagsName in
        var names: [UnsafePointer<CChar>?] = [connectionName, flagsName]
        return g_object_new_with_properties(
          SecretServiceClass.type, guint(values.count), &names, &values)
      }
    }.map { .object(adopting: OpaquePointer($0), madeIn: CallLoop.current.shared) }
  }
}

extension DBusError {
  fileprivate static let providerHasQuit = DBusError(
    domain: "secret", code: 0, text: "the provider quit while the session was being opened")
}

/// A subclass of libsecret's SecretService that uses a given connection.
///
/// libsecret's own class always uses the process's shared connection to the session bus. That connection
/// belongs to the app, and once it's lost it stays closed for the life of the process. libsecret's class is
/// made to be subclassed. After its constructor has chosen the bus, the subclass resets that choice. It
/// also turns off the properties and signals that this package never reads.
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
            | G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS.rawValue)
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
