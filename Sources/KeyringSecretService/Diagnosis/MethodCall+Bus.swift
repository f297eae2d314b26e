// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)

/// Messages to the bus itself and to other programs on it.
///
/// See <https://dbus.freedesktop.org/doc/dbus-specification.html#message-bus-messages>.
extension MethodCall {
  /// Returns a call that requests the process that owns a name.
  static func process(of name: String) -> MethodCall {
    toBus("GetConnectionUnixProcessID", [.string(name)], answer: "(u)")
  }

  /// Returns a call that requests the version of a provider, which not every provider answers.
  static func version(ofProvider name: String) -> MethodCall {
    let version = Provider.version
    return property(version.name, of: ObjectPath(version.object), version.interface, to: name)
  }
}
#endif
