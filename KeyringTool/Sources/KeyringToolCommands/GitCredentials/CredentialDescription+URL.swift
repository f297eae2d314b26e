// SPDX-License-Identifier: Apache-2.0

import Keyring

extension CredentialDescription {
  /// Parses a URL the same way git does: `protocol://username:password@host:port/path`.
  ///
  /// - Parameter url: The URL.
  /// - Throws: `.malformedURL`, or the failure of one of the parts.
  init(url: Secret) throws(HelperFailure) {
    self = try url.withUnsafeBytes { (bytes) throws(HelperFailure) in
      var description = CredentialDescription()
      try description.read(url: bytes[...])
      return description
    }
  }

  private mutating func read(url: Slice<UnsafeRawBufferPointer>) throws(HelperFailure) {
    guard let colon = url.firstIndex(of: UInt8(ascii: ":")), colon > url.startIndex,
      url[colon...].starts(with: "://".utf8)
    else { throw .malformedURL }
    let rest = url[(colon + 3)...]
    let end = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
    `protocol` = try text(url[..<colon], "protocol")
    try readAuthority(rest[..<end])
    let path = rest[end...].trimming(UInt8(ascii: "/"))
    if !path.isEmpty { self.path = try text(PercentDecoded(path), "path") }
  }

  private mutating func readAuthority(_ authority: Slice<UnsafeRawBufferPointer>)
    throws(HelperFailure)
  {
    guard let at = authority.firstIndex(of: UInt8(ascii: "@")) else {
      host = try text(PercentDecoded(authority), "host")
      return
    }
    host = try text(PercentDecoded(authority[(at + 1)...]), "host")
    let user = authority[..<at]
    let colon = user.firstIndex(of: UInt8(ascii: ":")) ?? at
    username = try text(PercentDecoded(user[..<colon]), "username")
    if colon < at {
      let password = PercentDecoded(user[(colon + 1)...])
      self.password = Secret(bytes: try writable(password, "password"))
    }
  }
}

extension Slice<UnsafeRawBufferPointer> {
  fileprivate func trimming(_ byte: UInt8) -> Self {
    guard let last = lastIndex(where: { $0 != byte }) else { return prefix(0) }
    return self[...last].drop { $0 == byte }
  }
}
