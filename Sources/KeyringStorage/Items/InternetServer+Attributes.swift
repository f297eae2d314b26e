// SPDX-License-Identifier: Apache-2.0

extension InternetServer {
  /// The parts as attributes of the schema org.gnome.keyring.NetworkPassword.
  package var attributes: [String: String] {
    [
      (AttributeName.server, host),
      (AttributeName.port, port.map { String($0) }),
      (AttributeName.object, path),
      (AttributeName.domain, securityDomain),
      (AttributeName.protocol, `protocol`?.rawValue),
      (AttributeName.authenticationType, authenticationType?.rawValue),
    ].reduce(into: [:]) { $0[$1.0] = $1.1 }
  }

  /// Creates a server from attributes, or `nil` if they name no host.
  init?(attributes: [String: String]) {
    guard let host = attributes[AttributeName.server] else { return nil }
    self.init(
      host,
      port: attributes[AttributeName.port].flatMap(UInt16.init),
      path: attributes[AttributeName.object],
      securityDomain: attributes[AttributeName.domain],
      protocol: attributes[AttributeName.protocol].map(InternetProtocol.init(rawValue:)),
      authenticationType: attributes[AttributeName.authenticationType].map(
        AuthenticationType.init(rawValue:)))
  }
}
