// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// The address of a node of the cluster.
struct EtcdEndpoint: Sendable, CustomStringConvertible {
  let description: String
  let isEncrypted: Bool
  /// The name or the address of the host, without the brackets of IPv6.
  let host: String

  /// `true` for a node on this machine.
  var isLoopback: Bool {
    host == "localhost" || host == "::1"
      || host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." }
  }

  /// Reads an address such as "https://etcd-1.example.org:2379", or returns `nil` for any other text.
  init?(_ address: String) {
    guard let scheme = ["https://", "http://"].first(where: address.hasPrefix) else { return nil }
    let rest = address.dropFirst(scheme.count)
    let authority = rest.hasSuffix("/") ? rest.dropLast() : rest
    // An address of IPv6 has colons inside brackets.
    guard let colon = authority.lastIndex(of: ":"),
      let port = UInt16(authority[authority.index(after: colon)...]), port > 0
    else { return nil }
    let host = authority[..<colon]
    guard !host.isEmpty, host.allSatisfy({ $0.isASCII && !"/@?# ".contains($0) }),
      !host.contains(":") || host.hasPrefix("[") && host.hasSuffix("]")
    else { return nil }
    description = scheme + authority
    isEncrypted = scheme == "https://"
    self.host = String(host.hasPrefix("[") ? host.dropFirst().dropLast() : host)
  }
}
#endif
