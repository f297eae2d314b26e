// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)

/// Messages to the bus itself and to other programs on it.
///
/// See <https://dbus.freedesktop.org/doc/dbus-specification.html#message-bus-messages>.
extension MethodCall {
  /// Returns a call that requests the names for which the bus can start a program.
  static func activatableNames() -> MethodCall { toBus("ListActivatableNames", [], answer: "(as)") }

  /// Returns a call that requests the process that owns a name.
  static func process(of name: String) -> MethodCall {
    toBus("GetConnectionUnixProcessID", [.string(name)], answer: "(u)")
  }

  /// Returns a call that requests the version of a Qt program, which not every such program answers.
  static func version(ofQtProgram name: String) -> MethodCall {
    property(
      "applicationVersion", of: ObjectPath("/MainApplication"),
      "org.qtproject.Qt.QCoreApplication", to: name)
  }
}
#endif
