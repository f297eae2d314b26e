#if SecretService && os(Linux)

/// What the bus itself tells, and other programs on it.
///
/// See <https://dbus.freedesktop.org/doc/dbus-specification.html#message-bus-messages>.
extension Message {
  /// Answers with the names that the bus could start somebody for.
  static func activatableNames() -> Message { toBus("ListActivatableNames", [], answer: "(as)") }

  /// Answers with the process that owns a name.
  static func process(of name: String) -> Message {
    toBus("GetConnectionUnixProcessID", [.string(name)], answer: "(u)")
  }

  /// Answers with the version that a Qt program gives itself; KWallet does.
  static func version(ofQtProgram name: String) -> Message {
    var message = Message(
      ObjectPath("/MainApplication"), "org.freedesktop.DBus.Properties", "Get",
      [.string("org.qtproject.Qt.QCoreApplication"), .string("applicationVersion")], answer: "(v)")
    message.receiver = name
    return message
  }

  private static func toBus(
    _ method: String, _ arguments: [Variant], answer: String
  ) -> Message {
    var message = Message(
      ObjectPath("/org/freedesktop/DBus"), bus, method, arguments, answer: answer)
    message.receiver = bus
    return message
  }
}
#endif
