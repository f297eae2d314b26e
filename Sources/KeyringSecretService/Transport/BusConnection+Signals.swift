// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CLibSecret
internal import KeyringStorage

/// The signals that a subscription receives.
struct BusSignal {
  /// The name of the sender, or `nil` for any sender.
  var sender: String?
  let interface: String
  /// The name of the signals, or `nil` for all signals of the interface.
  var member: String?
  var object: ObjectPath?
  var firstArgument: String?

  /// A signal that has arrived.
  struct Arrival {
    let object: ObjectPath
    let member: String
    let arguments: Variant
  }
}

extension BusSignal {
  /// Returns the signal of the bus that a name has another owner, or none.
  static func ownerChanged(of name: String) -> BusSignal {
    BusSignal(
      sender: MethodCall.bus, interface: MethodCall.bus, member: "NameOwnerChanged",
      firstArgument: name)
  }
}

extension BusConnection {
  /// Calls a closure for each signal that arrives in this thread's default main context.
  ///
  /// - Returns: A closure that ends the subscription.
  func subscribe(
    to signal: BusSignal, _ handler: @escaping (BusSignal.Arrival) -> Void
  ) -> () -> Void {
    let data = Unmanaged.passRetained(SignalHandler(handler)).toOpaque()
    let id = g_dbus_connection_signal_subscribe(
      reference.pointer, signal.sender, signal.interface, signal.member, signal.object?.text,
      signal.firstArgument, G_DBUS_SIGNAL_FLAGS_NONE, SignalHandler.callback, data,
      SignalHandler.release)
    return { [reference] in g_dbus_connection_signal_unsubscribe(reference.pointer, id) }
  }

  /// Waits for one signal of a program, which answers a question to the user.
  ///
  /// The method also watches the program's name, because a program that ends sends nothing more.
  ///
  /// - Parameters:
  ///   - signal: The signal, with the unique name of its sender.
  ///   - deadline: The deadline of the wait.
  ///   - ask: A closure that makes the program ask. It returns `false` if there will be no signal.
  /// - Returns: The arguments of the signal, or `nil` if there will be none.
  /// - Throws: `DBusError` if the program leaves, the deadline passes, or the closure throws.
  func arguments(
    of signal: BusSignal, until deadline: Deadline,
    after ask: () async throws(DBusError) -> Bool
  ) async throws(DBusError) -> Variant? {
    /// The arguments, or `nil` if the program has left without an answer.
    let answer = SharedOutcome<Variant?>()
    let subscriptions = [
      subscribe(to: signal) { answer.settle($0.arguments) },
      subscribe(to: .ownerChanged(of: signal.sender ?? "")) { _ in
        if answer.value == nil { answer.settle(nil) }
      },
    ]
    defer { for unsubscribe in subscriptions { unsubscribe() } }

    guard try await ask() else { return nil }
    while answer.value == nil, !isClosed {
      if let failure = deadline.failure { throw failure }
      // No signal arrives here if the bus closes the connection, so the loop checks every second.
      _ = await answer.wait(until: min(deadline.end, .now(plus: .seconds(1))))
    }
    if case .some(let arguments?) = answer.value { return arguments }
    throw DBusError(
      domain: "swift-keyring", code: 0, text: "the program quit while it was asking the user",
      remoteName: "org.freedesktop.DBus.Error.NoReply")
  }

  /// Calls a closure when the bus closes the connection.
  ///
  /// The closure runs in the main context in which the connection was opened.
  ///
  /// - Returns: A closure that ends the subscription.
  func whenClosed(_ handler: @escaping () -> Void) -> () -> Void {
    let data = Unmanaged.passRetained(ClosingHandler(handler)).toOpaque()
    let id = g_signal_connect_data(
      gpointer(reference.pointer), "closed",
      unsafeBitCast(ClosingHandler.callback, to: GCallback.self), data, ClosingHandler.release,
      GConnectFlags(0))
    return { [reference] in g_signal_handler_disconnect(gpointer(reference.pointer), id) }
  }

  /// Sends a signal without arguments to all its subscribers.
  ///
  /// A signal has no answer.
  func broadcast(_ member: String, of interface: String, from object: ObjectPath) {
    g_dbus_connection_emit_signal(
      reference.pointer, nil, object.text, interface, member, nil, nil)
  }
}

extension BusConnection {
  /// Waits until all sent messages have left the process, for one second at most.
  ///
  /// A failure isn't reported, because the write that the message announces has already taken place.
  func flush() async {
    _ = try? await CallLoop.result(until: Deadline(after: .seconds(1))) {
      [reference] cancellable, callback, data in
      g_dbus_connection_flush(reference.pointer, cancellable, callback, data)
    }
  }
}

private final class SignalHandler {
  let handler: (BusSignal.Arrival) -> Void

  init(_ handler: @escaping (BusSignal.Arrival) -> Void) { self.handler = handler }

  static let callback: GDBusSignalCallback = { _, _, object, _, member, arguments, data in
    guard let object, let member, let arguments, let data else { return }
    g_variant_ref(arguments)
    Unmanaged<SignalHandler>.fromOpaque(data).takeUnretainedValue()
      .handler(
        BusSignal.Arrival(
          object: ObjectPath(String(cString: object)), member: String(cString: member),
          arguments: Variant(adopting: arguments)))
  }

  static let release: GDestroyNotify = { data in
    if let data { Unmanaged<SignalHandler>.fromOpaque(data).release() }
  }
}

private final class ClosingHandler {
  let handler: () -> Void

  init(_ handler: @escaping () -> Void) { self.handler = handler }

  typealias Callback =
    @convention(c) (
      OpaquePointer?, gboolean, UnsafeMutablePointer<GError>?, UnsafeMutableRawPointer?
    ) -> Void

  static let callback: Callback = { _, _, _, data in
    if let data { Unmanaged<ClosingHandler>.fromOpaque(data).takeUnretainedValue().handler() }
  }

  static let release: GClosureNotify = { data, _ in
    if let data { Unmanaged<ClosingHandler>.fromOpaque(data).release() }
  }
}

// MARK: - Signals of this package

extension SecretSession {
  /// Sends this package's own signal for a change that the provider doesn't signal.
  ///
  /// The method waits until the signal has left the process, because the program may end right afterwards.
  func announce(_ message: MethodCall) async {
    guard let change = message.silentChange else { return }
    connection.broadcast(change.rawValue, of: BusSignal.ownInterface, from: message.object)
    await connection.flush()
  }
}

extension BusSignal {
  fileprivate static let ownInterface = "swift_keyring.Item"

  /// The signals of this package for changes that the provider doesn't signal.
  static let unheard = BusSignal(interface: ownInterface)

  static let ofCollections = BusSignal(
    sender: MethodCall.secrets, interface: MethodCall.collectionInterface)

  static let ofService = BusSignal(
    sender: MethodCall.secrets, interface: MethodCall.serviceInterface)
}
#endif
