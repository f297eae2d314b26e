// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
extension MethodCall {
  /// The name of the program that sandboxed apps ask for what is outside of their sandbox.
  static let portal = "org.freedesktop.portal.Desktop"
  private static let desktop = ObjectPath("/org/freedesktop/portal/desktop")

  /// Returns a call that requests the secret of the app.
  ///
  /// The answer contains the path of the request. A signal of that object says when the secret was written.
  ///
  /// - Parameters:
  ///   - receiver: The unique name of the portal.
  ///   - options: The options. The descriptor that comes with the message gets the secret.
  /// - Returns: The call.
  static func retrieveSecret(from receiver: String, _ options: [String: Variant]) -> MethodCall {
    MethodCall(
      desktop, "org.freedesktop.portal.Secret", "RetrieveSecret",
      [.handle(0), .properties(options)], answer: "(o)", to: receiver)
  }

  /// Returns a call that requests the version of the Secret portal, which doesn't ask anyone.
  static func secretPortalVersion(from receiver: String) -> MethodCall {
    property("version", of: desktop, "org.freedesktop.portal.Secret", to: receiver)
  }
}

extension BusSignal {
  /// Returns the signal that ends a request of a connection.
  ///
  /// - Parameters:
  ///   - token: The token with which the request was made.
  ///   - connection: The unique name of the connection.
  ///   - portal: The unique name of the portal.
  /// - Returns: The signal.
  static func response(token: String, to connection: String, from portal: String) -> BusSignal {
    let sender = connection.dropFirst().map { $0 == "." ? "_" : $0 }
    return BusSignal(
      sender: portal, interface: "org.freedesktop.portal.Request", member: "Response",
      object: ObjectPath("/org/freedesktop/portal/desktop/request/\(String(sender))/\(token)"))
  }
}
#endif
