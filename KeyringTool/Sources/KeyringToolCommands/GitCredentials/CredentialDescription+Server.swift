// SPDX-License-Identifier: Apache-2.0

import Keyring

extension CredentialDescription {
  /// The server of the credential, or `nil` if git doesn't name one.
  var server: InternetServer? {
    guard let host, !host.isEmpty, let `protocol`, !`protocol`.isEmpty else { return nil }
    let (name, port) = Self.split(host)
    return InternetServer(
      name, port: port, path: path.flatMap { $0.isEmpty ? nil : $0 },
      protocol: InternetServer.Scheme(rawValue: `protocol`))
  }

  /// Splits a host into name and port, the same way git-credential-libsecret does to find its items.
  private static func split(_ host: String) -> (name: String, port: UInt16?) {
    let bytes = host.utf8
    guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex else {
      return (host, nil)
    }
    let digits = bytes[bytes.index(after: colon)...]
    // `[::1]` contains colons but no port.
    guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let port = UInt16(String(digits) ?? "")
    else { return (host, nil) }
    return (String(host[..<colon]), port)
  }
}
