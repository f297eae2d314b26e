// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CKeyringLibSecret
internal import KeyringRuntime

/// The signals that a subscription receives.
struct BusSignal {
  /// The name of the sender, or `nil` for any sender.
  var sender: String?
  let interface: String
  /// The name of the signals, or `nil` for all signals of the interface.
  var member: String?
  var object: ObjectPath?
  var firstArgument: String?
  /// `true` for a signal that the bus sends to this program alone, without a rule.
  var isUnicast = false

  /// A signal that has arrived.
  struct Arrival {
    /// The unique name of the sender, which only the bus assigns.
    let sender: String
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

  /// The signals of this package for changes that the provider doesn't signal.
  static let unheard = BusSignal(interface: Provider.SilentChange.interface)

  static let ofCollections = BusSignal(
    sender: MethodCall.secrets, interface: MethodCall.collectionInterface.text)

  static let ofService = BusSignal(
    sender: MethodCall.secrets, interface: MethodCall.serviceInterface.text)
}

extension BusConnection {
  /// Calls a closure for each signal that arrives in this thread's loop.
  ///
  /// - Returns: A closure that ends the subscription.
  func subscribe(
    to signal: BusSignal, _ handler: @escaping (BusSignal.Arrival) -> Void
  ) -> () -> Void {
    let id = CallLoop.current.asDefault {
      g_dbus_connection_signal_subscribe(
        reference.pointer, signal.sender, signal.interface, signal.member, signal.object?.text,
        signal.firstArgument,
        signal.isUnicast ? G_DBUS_SIGNAL_FLAGS_NO_MATCH_RULE : G_DBUS_SIGNAL_FLAGS_NONE,
        { _, sender, object, _, member, arguments, data in
          guard let sender, let object, let member, let arguments else { return }
          g_variant_ref(arguments)
          let arrival = BusSignal.Arrival(
            sender: String(cString: sender), object: ObjectPath(String(cString: object)),
            member: String(cString: member), arguments: Variant(adopting: arguments))
          Handler.run(data, with: arrival)
        }, Handler(handler).retained(), { Handler<BusSignal.Arrival>.release($0) })
    }
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
  ///   - isOver: A closure that is called every second, and returns `true` if there will be no signal.
  /// - Returns: The arguments of the signal, or `nil` for one that will never come.
  /// - Throws: The error of a program that leaves, of a passed deadline, or of one of the closures.
  func arguments(
    of signal: BusSignal, until deadline: Deadline,
    after ask: () async throws(DBusError) -> Bool,
    unless isOver: () async throws(DBusError) -> Bool = { false }
  ) async throws(DBusError) -> Variant? {
    /// The arguments, or `nil` from a program that has left instead.
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
      let end = await answer.wait(until: min(deadline.end, .now(plus: .seconds(1))))
      if end == .timedOut, try await isOver(), answer.value == nil { return nil }
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
    typealias Callback =
      @convention(c) (OpaquePointer?, gboolean, UnsafeMutablePointer<GError>?, gpointer?) -> Void
    let callback: Callback = { _, _, _, data in Handler<Void>.run(data, with: ()) }
    let id = g_signal_connect_data(
      gpointer(reference.pointer), "closed", unsafeBitCast(callback, to: GCallback.self),
      Handler<Void> { handler() }.retained(), { data, _ in Handler<Void>.release(data) },
      GConnectFlags(0))
    return { [reference] in g_signal_handler_disconnect(gpointer(reference.pointer), id) }
  }
}

/// A closure that GLib keeps until its subscription ends.
private final class Handler<Event> {
  private let body: (Event) -> Void

  init(_ body: @escaping (Event) -> Void) { self.body = body }

  func retained() -> gpointer { Unmanaged.passRetained(self).toOpaque() }

  static func run(_ data: gpointer?, with event: Event) {
    if let data { Unmanaged<Handler>.fromOpaque(data).takeUnretainedValue().body(event) }
  }

  static func release(_ data: gpointer?) {
    if let data { Unmanaged<Handler>.fromOpaque(data).release() }
  }
}
#endif
