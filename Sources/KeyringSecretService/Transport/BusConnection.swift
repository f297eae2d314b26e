// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CLibSecret
internal import KeyringLibc
internal import KeyringStorage
internal import Synchronization

/// A connection to a message bus that only this package uses.
///
/// The process's shared connection belongs to the app, and it stays closed once it's lost.
final class BusConnection: Sendable {
  let reference: GLibReference
  private let flights = TaskSemaphore(maxInFlight)
  /// The number of messages that were given up while the bus still waits for their answers.
  private let unanswered = Atomic(0)

  private init(_ reference: GLibReference) { self.reference = reference }

  deinit {
    // A call that was given up would keep the connection open until its answer arrives.
    guard unanswered.load(ordering: .relaxed) > 0 else { return }
    g_dbus_connection_close(reference.pointer, nil, nil, nil)
  }

  /// Connects to a bus.
  ///
  /// - Parameters:
  ///   - address: The address of the bus, or `nil` for the session bus.
  ///   - deadline: The deadline of the call.
  /// - Returns: The connection.
  /// - Throws: `DBusError` if the connection can't be opened.
  static func open(
    address: String?, until deadline: Deadline
  ) async throws(DBusError) -> BusConnection {
    let address = if let address { address } else { try BusAddress.ofSession().text }
    let flags = GDBusConnectionFlags(
      G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
        | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
    let stream = try await stream(to: address, until: deadline)
    do throws(DBusError) {
      let result = try await CallLoop.result(until: deadline) { cancellable, callback, data in
        g_dbus_connection_new(
          UnsafeMutablePointer(stream.pointer), nil, flags, nil, cancellable, callback, data)
      }
      let connection = try DBusError.check { g_dbus_connection_new_finish(result.pointer, &$0) }
      return BusConnection(.object(adopting: connection))
    } catch {
      let isForeign = BusAddress(text: address).foreignOwner != nil
      throw error.on(isForeign ? .anotherUser : .thisUser)
    }
  }

  /// Opens a stream to an address.
  ///
  /// This is a separate step, because GDBus reports the same error for a missing bus and for a bus that
  /// closes the connection.
  private static func stream(
    to address: String, until deadline: Deadline
  ) async throws(DBusError) -> GLibReference {
    let result = try await CallLoop.result(until: deadline) { cancellable, callback, data in
      g_dbus_address_get_stream(address, cancellable, callback, data)
    }
    let stream = try DBusError.check { g_dbus_address_get_stream_finish(result.pointer, nil, &$0) }
    return .object(adopting: OpaquePointer(stream))
  }

  /// Indicates whether the bus may soon refuse messages because it waits for too many answers.
  var isExhausted: Bool { unanswered.load(ordering: .relaxed) > Self.maxInFlight / 2 }

  /// Indicates whether the bus has closed the connection.
  var isClosed: Bool { g_dbus_connection_is_closed(reference.pointer) != 0 }

  /// Sends messages concurrently, and waits for all the answers.
  ///
  /// - Parameters:
  ///   - messages: The messages.
  ///   - provider: The unique name of the provider, which receives the messages that name no receiver. It
  ///     may be `nil` if every message names a receiver.
  ///   - deadline: The deadline of the call. It's renewed each time that a flight of up to
  ///     ``maxInFlight`` messages was answered.
  ///   - onAnswer: A closure that receives the index of each message when its answer arrives. It runs
  ///     between the signals that arrive before the answer and those that arrive after it.
  ///   - onFlight: A closure that receives the number of answered messages after each flight. No message
  ///     of this call is in progress at that time, so the closure may use the connection.
  /// - Returns: The answer to each message, or its failure.
  /// - Throws: `DBusError` only if the deadline passes or the task is cancelled.
  func send(
    _ messages: [MethodCall], to provider: String?, until deadline: Deadline,
    onAnswer: @escaping (Int) -> Void = { _ in }, onFlight: (Int) -> Void = { _ in }
  ) async throws(DBusError) -> [Result<Variant, DBusError>] {
    var results: [Result<Variant, DBusError>] = []
    var deadline = deadline
    while results.count < messages.count {
      let next = messages.dropFirst(results.count).prefix(Self.maxInFlight)
      let first = next.startIndex
      results += try await sendAtOnce(next, to: provider, until: deadline) {
        onAnswer(first + $0)
      }
      onFlight(results.count)
      deadline.renew()
    }
    return results
  }

  /// The maximum number of concurrent messages of all operations.
  ///
  /// A bus limits the number of answers that a connection waits for. The limit is 128 unless the
  /// configuration of the bus sets another.
  static let maxInFlight = 64

  private func sendAtOnce(
    _ messages: ArraySlice<MethodCall>, to provider: String?, until deadline: Deadline,
    onAnswer: @escaping (Int) -> Void
  ) async throws(DBusError) -> [Result<Variant, DBusError>] {
    var started = 0
    let starts = messages.map { message in
      { (cancellable, callback, data) in
        started += 1
        self.start(message, to: provider, cancellable, callback, data)
      } as CallLoop.Start
    }
    try await flights.take(messages.count, until: deadline.end).check()
    defer { flights.giveBack(messages.count) }
    let results: [GLibReference]
    do throws(DBusError) {
      results = try await CallLoop.results(
        of: starts, until: deadline,
        onResult: { index in
          started -= 1
          onAnswer(index)
        },
        onLateResult: { [weak self] in self?.unanswered.subtract(1, ordering: .relaxed) })
    } catch {
      unanswered.add(started, ordering: .relaxed)
      throw error
    }
    return results.map { result in
      var error: UnsafeMutablePointer<GError>?
      if let answer = g_dbus_connection_call_finish(reference.pointer, result.pointer, &error) {
        return .success(Variant(adopting: answer))
      }
      return .failure(DBusError(adopting: error))
    }
  }

  /// Starts a call, with descriptors that the message takes along.
  func start(
    _ message: MethodCall, to provider: String?, with descriptors: GLibReference? = nil,
    _ cancellable: UnsafeMutablePointer<GCancellable>?, _ callback: GAsyncReadyCallback,
    _ data: gpointer
  ) {
    let type = g_variant_type_new(message.answer)
    defer { g_variant_type_free(type) }
    // The deadline ends the wait, so GDBus needs no timer of its own.
    g_dbus_connection_call_with_unix_fd_list(
      reference.pointer, message.receiver ?? provider, message.object.text, message.interface,
      message.method,
      message.arguments.pointer, type, G_DBUS_CALL_FLAGS_NO_AUTO_START, gint(Int32.max),
      descriptors.map { UnsafeMutablePointer($0.pointer) }, cancellable, callback, data)
  }
}

// MARK: - Before the provider is known

extension BusConnection {
  /// Returns a closure that sends a message to the owner of a name on the bus, if there is one.
  func starting(_ message: MethodCall, to name: String) -> CallLoop.Start {
    { [reference] cancellable, callback, data in
      let call = g_dbus_message_new_method_call(
        name, message.object.text, message.interface, message.method)
      defer { g_object_unref(gpointer(call)) }
      g_dbus_message_set_body(call, message.arguments.pointer)
      g_dbus_message_set_flags(call, G_DBUS_MESSAGE_FLAGS_NO_AUTO_START)
      g_dbus_connection_send_message_with_reply(
        reference.pointer, call, G_DBUS_SEND_MESSAGE_FLAGS_NONE, gint(Int32.max), nil, cancellable,
        callback, data)
    }
  }

  /// Reads the answer to a message that ``starting(_:to:)`` has sent.
  ///
  /// - Parameters:
  ///   - result: The result of the call.
  ///   - message: The message.
  ///   - sender: The unique name of the expected sender of the answer.
  /// - Returns: The answer, or `nil` if it's missing, has another type or comes from another sender.
  func answer(_ result: GLibReference, to message: MethodCall, from sender: String) -> Variant? {
    let answer = g_dbus_connection_send_message_with_reply_finish(
      reference.pointer, result.pointer, nil)
    guard let answer else { return nil }
    defer { g_object_unref(gpointer(answer)) }
    guard g_dbus_message_get_message_type(answer) == G_DBUS_MESSAGE_TYPE_METHOD_RETURN,
      let name = g_dbus_message_get_sender(answer), String(cString: name) == sender,
      let body = g_dbus_message_get_body(answer)
    else { return nil }
    let variant = Variant(adopting: g_variant_ref(body))
    return variant.isOfType(message.answer) ? variant : nil
  }
}

// MARK: - Addresses

/// The address of a bus, with the details for messages to people: the socket and its owner.
struct BusAddress {
  let text: String

  /// The path of the socket in the file system, or `nil` if the address names none.
  var socket: String? {
    guard text.hasPrefix("unix:") else { return nil }
    let parts = text.dropFirst("unix:".count).split(whereSeparator: { $0 == "," || $0 == ";" })
    return parts.first { $0.hasPrefix("path=") }.map { String($0.dropFirst("path=".count)) }
  }

  /// The ID of the socket's owner, or `nil` if it's unknown or the user that this program runs as.
  ///
  /// A bus accepts only its own user.
  var foreignOwner: UInt32? {
    guard let socket, let owner = Self.owner(of: socket), owner != geteuid() else { return nil }
    return owner
  }

  /// Returns the ID of a file's owner, or `nil` if there is no such file.
  private static func owner(of path: String) -> UInt32? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_uid : nil
  }

  /// Returns the address of the session bus.
  ///
  /// It's in `DBUS_SESSION_BUS_ADDRESS`, or leads to the socket `bus` in `XDG_RUNTIME_DIR`. If there is
  /// neither, GLib would run `dbus-launch` on an X display. That starts a bus, which would have no keyring.
  static func ofSession() throws(DBusError) -> BusAddress {
    let directory = g_getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }
    let isKnown =
      g_getenv("DBUS_SESSION_BUS_ADDRESS") != nil
      || directory.flatMap { owner(of: $0 + "/bus") } == geteuid()
    guard isKnown else { throw .noAddress }
    let address = try DBusError.check {
      g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SESSION, nil, &$0)
    }
    defer { g_free(address) }
    return BusAddress(text: String(cString: address))
  }
}
#endif
