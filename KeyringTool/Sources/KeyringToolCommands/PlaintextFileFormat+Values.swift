// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
internal import Keyring
internal import KeyringMigration
internal import KeyringStorage

extension PlaintextFileFormat {
  /// Returns the values of a file, with the items in which the programs that use it look for them.
  func values(of entries: [PlaintextEntry], service: String) -> [PlaintextImport.Value] {
    let entries = entries.filter { entry in
      if case .unusable = entry.kind { false } else { true }
    }
    switch self {
    case .docker: return Self.dockerValues(entries)
    case .environment, .json:
      return entries.map { entry in
        let name = entry.path.joined(separator: ".")
        let key: ItemKey =
          switch entry.kind {
          case .credential: .credentials(service: service, label: name)
          case .json: .value(service: service, account: name)
          case .text, .unusable: .password(service: service, account: name)
          }
        return Self.value(entry, name, key)
      }
    case .netrc:
      return entries.compactMap { entry in
        // Programs that read such files usually talk HTTPS, and git looks for this protocol.
        var description = CredentialDescription()
        (description.protocol, description.host) = ("https", entry.path[0])
        description.username = entry.path.dropFirst().first
        return key(of: description).map {
          Self.value(entry, entry.path.joined(separator: " "), $0)
        }
      }
    case .gitCredentials:
      return entries.compactMap { entry in
        let description = try? CredentialDescription(url: Secret(entry.path[0]))
        return description.flatMap(key).map { Self.value(entry, entry.path[0], $0) }
      }
    }
  }

  /// Returns the reason why no value on certain lines is made from an entry, or `nil` if there is nothing to say.
  func problem(of entry: PlaintextEntry, lines: Set<Int>) -> String? {
    if case .unusable(let problem) = entry.kind { return problem }
    if self == .docker, Self.isLost(entry) {
      return "is of a login that docker's helper can't keep as a whole"
    }
    // Here, each line has one entry.
    let isMissing = self == .gitCredentials && !lines.contains(entry.line)
    return isMissing ? "isn't a URL that git's helper finds" : nil
  }

  /// Returns the key under which git's helper looks for a password.
  private func key(of description: CredentialDescription) -> ItemKey? {
    guard var parts = description.place else { return nil }
    parts["user"] = description.username
    return ItemKey(kind: .internetPassword, attributes: parts)
  }

  private static func value(
    _ entry: PlaintextEntry, _ name: String, _ key: ItemKey
  ) -> PlaintextImport.Value {
    PlaintextImport.Value(
      name: name, line: entry.line, key: key, mapping: entry.mapping(to: key))
  }

  /// Returns `true` if an entry belongs to a registry, and docker's helper has no place for it.
  private static func isLost(_ entry: PlaintextEntry) -> Bool {
    entry.path.count > 2 && entry.path[0] == "auths" && entry.secret.count > 0
      && !["auth", "email", "identitytoken", "password", "username"].contains(entry.path[2])
  }

  /// Returns a value for each registry with a password, as docker's own helpers store it.
  private static func dockerValues(_ entries: [PlaintextEntry]) -> [PlaintextImport.Value] {
    var seen = Set(entries.filter(isLost).map { $0.path[1] })
    return entries.compactMap { entry in
      guard entry.path.count == 3, entry.path[0] == "auths",
        ["auth", "identitytoken", "password"].contains(entry.path[2]), entry.secret.count > 0,
        seen.insert(entry.path[1]).inserted
      else { return nil }
      let key = DockerCredentials.key(entry.path[1])
      return PlaintextImport.Value(
        name: entry.path[1], line: entry.line, key: key,
        mapping: PlaintextMapping(path: Array(entry.path.prefix(2)), as: key) { json in
          DockerLogin(json).map {
            DockerCredentials.item(key, server: entry.path[1], user: $0.user, $0.secret)
          }
        })
    }
  }
}

/// A login to a registry, as docker's `config.json` has it.
private struct DockerLogin {
  let user: String
  let secret: Secret

  private struct Content: Decodable {
    let auth, identitytoken, username, password: String?
  }

  init?(_ json: Secret) {
    // The decoder's error could quote the secret.
    let content = json.withUnsafeBytes { try? JSONDecoder().decode(Content.self, from: Data($0)) }
    guard let content else { return nil }
    var (user, secret) = (content.username, content.password.map { Secret($0) })
    if let auth = content.auth, !auth.isEmpty {
      // As docker does, this passes over line ends.
      let encoded = Data(auth.utf8.filter { !"\r\n".utf8.contains($0) })
      guard let pair = Data(base64Encoded: encoded),
        let colon = pair.firstIndex(of: UInt8(ascii: ":"))
      else { return nil }
      user = String(validating: pair[..<colon], as: UTF8.self)
      // As docker does, this drops NULs at the end.
      let password = pair[(colon + 1)...]
      let end = password.lastIndex { $0 != 0 }.map { $0 + 1 } ?? password.startIndex
      secret = Secret(bytes: password[..<end])
    }
    if let token = content.identitytoken, !token.isEmpty {
      // Docker's name for the user of a token.
      (user, secret) = ("<token>", Secret(token))
    }
    guard let user, !user.isEmpty, let secret else { return nil }
    (self.user, self.secret) = (user, secret)
  }
}
