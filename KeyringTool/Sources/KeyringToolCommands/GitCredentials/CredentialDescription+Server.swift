// SPDX-License-Identifier: Apache-2.0

import KeyringStorage

extension CredentialDescription {
  /// The parts of an item's key that git-credential-libsecret uses, except for the user, or `nil` if git names
  /// neither a host nor a path.
  ///
  /// For the pass phrase of a certificate, the host is empty, and the path is that of the file.
  var place: [String: String]? {
    guard let host, let `protocol`, !`protocol`.isEmpty else { return nil }
    if host.isEmpty, path?.isEmpty ?? true { return nil }
    let (name, port) = Self.split(host)
    var place = ["protocol": `protocol`, "server": name]
    place["port"] = port.map { String($0) }
    place["object"] = path.flatMap { $0.isEmpty ? nil : $0 }
    return place
  }

  /// The key of the item that has the credential, or `nil` if a part is missing or git says not to store it.
  ///
  /// A password has the schema by which git-credential-libsecret stores its own since git 2.47, so that this helper
  /// replaces it. A credential that isn't a password, such as a token with the type "Bearer", has a kind of its own.
  /// With that schema, the helper would take it for a password, and replace or remove it.
  var key: ItemKey? {
    guard var parts = place, !isEphemeral else { return nil }
    parts["user"] = username
    if credential != nil, let authenticationType {
      parts["authtype"] = authenticationType
      return ItemKey(kind: .gitCredential, attributes: parts)
    }
    return username == nil || password == nil
      ? nil : ItemKey(kind: .internetPassword, attributes: parts, schema: "org.git.Password")
  }

  /// Returns `true` if an item's key has the same place.
  ///
  /// Some programs store an empty part for one that is missing.
  func isFor(_ key: ItemKey) -> Bool {
    guard let place else { return false }
    let parts = key.attributes.filter { name, value in
      name != "user" && (key.kind != .gitCredential || name != "authtype")
        && (!value.isEmpty || place[name] != nil)
    }
    return parts == place
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

extension ItemKind {
  /// The kind of a credential of git that isn't a password.
  static let gitCredential = ItemKind(rawValue: "git")
}
