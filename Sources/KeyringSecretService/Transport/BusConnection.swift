// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CKeyringLibSecret
internal import KeyringRuntime
internal import Synchronization

/// A connection to a message bus that only this package uses.
///
/// The process's shared connection belongs to the app, and it stays closed once it's lost.
final class BusConnection: Sendable {
  let reference: GLibReference
  private let flights = TaskSemaphore(maxInFlight)
  /// The number of messages that were given up while the bus still waits for their answers.
  private let unanswered = Atomic(0)
  /// The cancellables of those that are still in progress in this process.
  private let cancellables = Mutex<[GLibReference]>([])
  /// The number of waits for answers so far.
  ///
  /// Tests compare it with the documentation.
  let waits = Atomic(0)

  private init(_ reference: GLibReference) {
    self.reference = reference
    _ = Variant.ofAllTypes
  }

  deinit {
    // A call that was given up would keep the connection open until its answer arrives. Its loop ends it now.
    //
    // Closing the connection takes a loop of its own, and another loop would have to take the signal of its end.
    for cancellable in cancellables.withLock(\.self) {
      g_cancellable_cancel(UnsafeMutablePointer(cancellable.pointer))
    }
  }

  /// Connects to a bus.
  ///
  /// - Parameters:
  ///   - address: The address of the bus, or `nil` for the session bus.
  ///   - deadline: The deadline of the call.
  /// - Returns: The connection.
  /// - Throws: The reason why the connection can't be opened.
  static func open(
    address: String?, until deadline: Deadline
  ) async throws(DBusError) -> BusConnection {
    let address = if let address { address } else { try BusAddress.ofSession().text }
    if BusAddress(text: address).isOverNetwork { throw .networkAddress }
    let flags = GDBusConnectionFlags(
      G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
        | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
    try CallLoop.checkResources()
    let stream = try await stream(to: address, until: deadline)
    do throws(DBusError) {
      let result = try await CallLoop.result(until: deadline) { cancellable, callback, data in
        g_dbus_connection_new(
          UnsafeMutablePointer(stream.pointer), nil, flags, nil, cancellable, callback, data)
      }
      let connection = try DBusError.check { g_dbus_connection_new_finish(result.pointer, &$0) }
      CallLoop.hasWorkers.store(true, ordering: .relaxed)
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

  /// `true` for a bus that waits for many answers, and may soon refuse messages.
  var isExhausted: Bool { unanswered.load(ordering: .relaxed) > Self.maxInFlight / 2 }

  /// `true` for a connection that can be used further.
  var isUsable: Bool { !isClosed && !isExhausted }

  /// `true` after the bus closed the connection.
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
  /// - Throws: Only the error of a passed deadline or a cancelled task.
  func send(
    _ messages: [MethodCall], to provider: String?, until deadline: Deadline,
    onAnswer: @escaping (Int) -> Void = { _ in }, onFlight: (Int) -> Void = { _ in }
  ) async throws(DBusError) -> [Result<Variant, DBusError>] {
    waits.add(1, ordering: .relaxed)
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
      let unsent = messages.dropFirst(results.count)
      if unsent.isEmpty { break }
      // Nobody would receive the rest, and the bus would have to say so each time.
      let gone = zip(next, results[first...]).first {
        $0.receiver == nil && $1.isWithoutReceiver
      }
      if let result = isClosed ? .failure(.noConnection) : gone?.1 {
        return results + unsent.map { _ in result }
      }
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
    if let failure = await flights.take(messages.count, until: deadline.end).failure {
      throw failure
    }
    defer { flights.giveBack(messages.count) }
    let receiver = provider.map { Variant.string($0) }
    let results = try await CallLoop.results(
      of: messages.map { starting($0, to: receiver) }, until: deadline,
      onResult: { index, _ in onAnswer(index) },
      onGivenUp: { [weak self] in self?.noteUnanswered($0, $1) })
    return zip(messages, results).map { answer($1, to: $0) }
  }

  private func noteUnanswered(_ count: Int, _ cancellable: GLibReference?) {
    unanswered.add(count, ordering: .relaxed)
    guard let cancellable else { return }
    cancellables.withLock { cancellables in
      cancellables.removeAll { $0.pointer == cancellable.pointer }
      if count > 0 { cancellables.append(cancellable) }
    }
  }

  /// Returns a closure that sends a message to its receiver, or to another one if it names none.
  ///
  /// The message can take descriptors along. The bus starts no program for it.
  func starting(
    _ message: MethodCall, to receiver: Variant?, with descriptors: GLibReference? = nil
  ) -> CallLoop.Start {
    { [reference] cancellable, callback, data in
      let call = Self.message(
        G_DBUS_MESSAGE_TYPE_METHOD_CALL, message.object, message.interface, message.method,
        message.arguments, to: message.receiver.map { .string($0) } ?? receiver)
      defer { g_object_unref(gpointer(call)) }
      g_dbus_message_set_flags(call, G_DBUS_MESSAGE_FLAGS_NO_AUTO_START)
      if let descriptors {
        g_dbus_message_set_unix_fd_list(call, UnsafeMutablePointer(descriptors.pointer))
      }
      // The deadline ends the wait, so GDBus needs no timer of its own.
      g_dbus_connection_send_message_with_reply(
        reference.pointer, call, G_DBUS_SEND_MESSAGE_FLAGS_NONE, gint(Int32.max), nil, cancellable,
        callback, data)
    }
  }

  /// Reads the answer to a message.
  ///
  /// - Parameters:
  ///   - result: The result of the call that ``starting(_:to:with:)`` has started.
  ///   - message: The message.
  /// - Returns: The answer, or the failure of one that is an error, has another type or is missing.
  func answer(_ result: GLibReference, to message: MethodCall) -> Result<Variant, DBusError> {
    Result { () throws(DBusError) in
      let reply = try DBusError.check {
        g_dbus_connection_send_message_with_reply_finish(reference.pointer, result.pointer, &$0)
      }
      defer { g_object_unref(gpointer(reply)) }
      var error: UnsafeMutablePointer<GError>?
      if g_dbus_message_to_gerror(reply, &error) != 0 { throw DBusError(adopting: error) }
      let body = g_dbus_message_get_body(reply).map { Variant(adopting: g_variant_ref($0)) }
      let answer = body ?? .empty
      guard answer.isOfType(message.answer) else {
        throw .otherType(answer, of: message.method.text, insteadOf: message.answer)
      }
      return answer
    }
  }
}

extension Result<Variant, DBusError> {
  /// `true` for a message that no program could receive.
  var isWithoutReceiver: Bool {
    if case .failure(let failure) = self { failure.isWithoutReceiver } else { false }
  }
}

extension BusConnection {
  /// Creates GDBus's message from its names and arguments.
  ///
  /// GDBus's functions for a call and a signal check and copy each text several times.
  private static func message(
    _ type: GDBusMessageType, _ object: ObjectPath, _ interface: DBusName, _ member: DBusName,
    _ arguments: Variant? = nil, to receiver: Variant? = nil
  ) -> OpaquePointer? {
    let message = g_dbus_message_new()
    g_dbus_message_set_message_type(message, type)
    let path = object.text.withCString { g_variant_new_object_path($0) }
    g_dbus_message_set_header(message, G_DBUS_MESSAGE_HEADER_FIELD_PATH, path)
    g_dbus_message_set_header(
      message, G_DBUS_MESSAGE_HEADER_FIELD_INTERFACE, interface.value.pointer)
    g_dbus_message_set_header(message, G_DBUS_MESSAGE_HEADER_FIELD_MEMBER, member.value.pointer)
    if let receiver {
      g_dbus_message_set_header(
        message, G_DBUS_MESSAGE_HEADER_FIELD_DESTINATION, receiver.pointer)
    }
    if let arguments { g_dbus_message_set_body(message, arguments.pointer) }
    return message
  }

  /// Sends a message to the bus whose answer nobody waits for.
  func sendWithoutAnswer(_ message: MethodCall) {
    post(
      Self.message(
        G_DBUS_MESSAGE_TYPE_METHOD_CALL, message.object, message.interface, message.method,
        message.arguments, to: message.receiver.map { .string($0) }))
  }

  private func post(_ message: OpaquePointer?) {
    defer { g_object_unref(gpointer(message)) }
    g_dbus_message_set_flags(message, G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED)
    g_dbus_connection_send_message(
      reference.pointer, message, G_DBUS_SEND_MESSAGE_FLAGS_NONE, nil, nil)
  }
}

// MARK: - Signals of this package

extension BusConnection {
  /// Sends this package's own signal for a step of a change that the provider makes silently.
  ///
  /// The bus delivers it before the messages that are sent later. After the last step, the method waits until the
  /// signal has left the process, because the program may end right afterwards. It waits for one second at most. A
  /// failure isn't reported, because the change has already taken place.
  func announce(
    _ change: Provider.SilentChange, _ step: Provider.SilentChange.Step, of item: ObjectPath
  ) async {
    broadcast(DBusName(change.signal(step)), of: Self.silentChanges, from: item)
    if step == .changing { return }
    _ = try? await CallLoop.result(until: Deadline(after: .seconds(1))) {
      [reference] cancellable, callback, data in
      g_dbus_connection_flush(reference.pointer, cancellable, callback, data)
    }
  }

  private static let silentChanges = DBusName(Provider.SilentChange.interface)

  /// Sends a signal without arguments to all its subscribers.
  ///
  /// A signal has no answer.
  func broadcast(_ member: DBusName, of interface: DBusName, from object: ObjectPath) {
    post(Self.message(G_DBUS_MESSAGE_TYPE_SIGNAL, object, interface, member))
  }
}
#endif
