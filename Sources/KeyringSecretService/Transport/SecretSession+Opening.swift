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
      questions.count < BusConnection.maxInFlight - Provider.names.count - 1 ? questions : []
    let connection: BusConnection
    do throws(DBusError) {
      connection = try await .open(address: address, until: deadline)
    } catch {
      throw OpeningFailure(connecting: error)
    }
    do throws(DBusError) {
      let opening = try await startingProvider(on: connection, until: deadline) {
        (patience) async throws(DBusError) in
        try await openServiceWithAnyKey(
          on: connection, asking: questions, patience: patience, deadline)
      }
      guard let owner = owner(of: opening.service) else { throw .providerHasQuit }
      var provider = Provider(owner, owners: opening.owners)
      let wasKnown = provider.isKnown
      // Another program may have started the provider at this moment, and then it had no other name at first.
      if !wasKnown { provider = try await connection.readyProvider(owner, until: deadline) }
      guard
        let session = SecretSession(
          connection: connection, service: opening.service, provider: provider)
      else { throw .providerHasQuit }
      let answers = zip(questions, opening.answers).compactMap {
        connection.answer($1, to: $0, from: owner)
      }
      let isComplete = wasKnown && !answers.isEmpty && answers.count == questions.count
      return (session, isComplete ? answers : nil)
    } catch {
      throw await OpeningFailure(opening: error, on: connection, until: deadline)
    }
  }

  /// An open session of libsecret, and what was asked beside it.
  private struct Opening {
    let service: GLibReference
    /// The unique names of the programs that own the names of the service and of the known providers.
    let owners: [String: String]
    /// The answers to the other messages.
    let answers: [GLibReference]
  }

  /// Opens the service, and tries again if the provider refuses the session's key.
  ///
  /// Some providers refuse a key that begins with a zero byte, which is about one in 256.
  private static func openServiceWithAnyKey(
    on connection: BusConnection, asking questions: [MethodCall], patience: Duration,
    _ deadline: Deadline
  ) async throws(DBusError) -> Opening {
    for _ in 0..<3 {
      do throws(DBusError) {
        return try await openService(
          on: connection, asking: questions, patience: patience, deadline)
      } catch {
        guard error.isInvalidArgument else { throw error }
      }
    }
    return try await openService(on: connection, asking: questions, patience: patience, deadline)
  }

  /// Opens the service.
  ///
  /// - Parameters:
  ///   - connection: The connection to the bus.
  ///   - questions: The messages to send at the same time.
  ///   - patience: The time to wait for a provider that isn't known, which may not be ready to answer.
  ///   - deadline: The deadline of the call.
  /// - Returns: The service, and the answers.
  /// - Throws: `DBusError.providerIsNotReady` if that time has passed.
  private static func openService(
    on connection: BusConnection, asking questions: [MethodCall], patience: Duration,
    _ deadline: Deadline
  ) async throws(DBusError) -> Opening {
    guard let service = newService(on: connection) else {
      throw DBusError(domain: "glib", code: 0, text: "libsecret didn't create a service object")
    }
    let start: CallLoop.Start = { cancellable, callback, data in
      g_async_initable_init_async(service.pointer, G_PRIORITY_DEFAULT, cancellable, callback, data)
    }
    // The names that the provider owns identify it.
    let names = Provider.names + [MethodCall.secrets]
    var owners: [String: String] = [:]
    var namesLeft = names.count
    var isUnknown: Bool {
      owners[MethodCall.secrets].map { !Provider($0, owners: owners).isReadyOnceStarted } ?? false
    }
    var opened: GLibReference?
    var answers: [GLibReference] = []
    do throws(DBusError) {
      answers = try await CallLoop.results(
        of: [start] + names.map { connection.starting(.owner(of: $0), to: MethodCall.bus) }
          + questions.map { connection.starting($0, to: MethodCall.secrets) },
        until: deadline,
        shortening: { index, result in
          if index == 0 { opened = result }
          guard names.indices.contains(index - 1) else { return nil }
          let name = names[index - 1]
          owners[name] =
            connection.answer(
              result, to: .owner(of: name), from: MethodCall.bus)?.child(0).text
          namesLeft -= 1
          return namesLeft == 0 && isUnknown ? patience : nil
        })
      answers.removeFirst(1 + names.count)
    } catch {
      guard isUnknown, deadline.failure == nil else { throw error }
      // The answers to the other messages aren't used.
      if opened == nil { throw .providerIsNotReady }
    }
    var error: UnsafeMutablePointer<GError>?
    guard let opened,
      g_async_initable_init_finish(service.pointer, opened.pointer, &error) != 0
    else {
      let failure = DBusError(adopting: error)
      throw failure.isOfProxyWithoutOwner ? .noProvider : failure
    }
    return Opening(service: service, owners: owners, answers: answers)
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
        return CallLoop.current.asDefault {
          g_object_new_with_properties(
            SecretServiceClass.type, guint(values.count), &names, &values)
        }
      }
    }.map { .object(adopting: OpaquePointer($0), madeIn: CallLoop.current.shared) }
  }
}

extension DBusError {
  fileprivate static let providerHasQuit = DBusError(
    domain: "secret", code: 0, text: "the provider quit while the session was being opened")

  fileprivate static let noProvider = DBusError(
    domain: "swift-keyring", code: 0, text: "no program provides the Secret Service",
    remoteName: "org.freedesktop.DBus.Error.NameHasNoOwner")

  /// A provider that isn't known hasn't answered in the time that one needs that is ready.
  static let providerIsNotReady = DBusError(
    domain: "swift-keyring", code: 0, text: "the provider isn't ready")
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
