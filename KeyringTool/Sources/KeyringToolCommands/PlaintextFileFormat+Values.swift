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
    if self == .docker { return Self.dockerProblem(of: entry) }
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

  /// Returns the name of the registry that an entry belongs to, and the name in its login, or `nil` for others.
  ///
  /// The older file `.dockercfg` has no object `auths` around its logins.
  private static func login(_ entry: PlaintextEntry) -> (server: String, name: String)? {
    let path = entry.path
    if path.count > 2, path[0] == "auths" { return (path[1], path[2]) }
    let isOlder = path.count == 2 && ["auth", "registrytoken"].contains(path[1])
    return isOlder && !["auths", "HttpHeaders"].contains(path[0]) ? (path[0], path[1]) : nil
  }

  /// Returns `true` if an entry belongs to a registry, and docker's helper has no place for it.
  private static func isLost(_ entry: PlaintextEntry) -> Bool {
    guard let name = login(entry)?.name, entry.secret.count > 0 else { return false }
    if name == "auth" { return DockerLogin.pair(entry.secret.text ?? "") == nil }
    return !["email", "identitytoken", "password", "username"].contains(name)
  }

  private static func dockerProblem(of entry: PlaintextEntry) -> String? {
    if isLost(entry) { return "is of a login that docker's helper can't keep as a whole" }
    switch entry.path.first {
    case "HttpHeaders" where entry.path.last?.lowercased() != "user-agent":
      return "is a header for every registry, which no item can be"
    case "proxies" where entry.secret.withUnsafeBytes({ $0.contains(UInt8(ascii: "@")) }):
      return "is a proxy with a login, which no item can be"
    default: return nil
    }
  }

  /// Returns a value for each registry with a password, as docker's own helpers store it.
  private static func dockerValues(_ entries: [PlaintextEntry]) -> [PlaintextImport.Value] {
    var seen = Set(entries.filter(isLost).compactMap { login($0)?.server })
    return entries.compactMap { entry in
      guard let (server, name) = login(entry), entry.path.last == name,
        ["auth", "identitytoken", "password"].contains(name), entry.secret.count > 0,
        seen.insert(server).inserted
      else { return nil }
      let key = DockerCredentials.key(server)
      return PlaintextImport.Value(
        name: server, line: entry.line, key: key,
        mapping: PlaintextMapping(path: Array(entry.path.dropLast()), as: key) { json in
          DockerLogin(json).map {
            DockerCredentials.item(key, server: server, user: $0.user, $0.secret)
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
      guard let pair = Self.pair(auth) else { return nil }
      (user, secret) = pair
    }
    if let token = content.identitytoken, !token.isEmpty {
      // Docker's name for the user of a token.
      (user, secret) = ("<token>", Secret(token))
    }
    guard let user, !user.isEmpty, let secret else { return nil }
    (self.user, self.secret) = (user, secret)
  }

  /// Returns the user and the password that docker finds in a text, or `nil` if it finds none.
  static func pair(_ auth: String) -> (user: String, secret: Secret)? {
    // As docker does, this passes over line ends.
    let encoded = Data(auth.utf8.filter { !"\r\n".utf8.contains($0) })
    guard let pair = Data(base64Encoded: encoded),
      let colon = pair.firstIndex(of: UInt8(ascii: ":")), colon > pair.startIndex,
      let user = String(validating: pair[..<colon], as: UTF8.self)
    else { return nil }
    // As docker does, this drops NULs at the end.
    let password = pair[(colon + 1)...]
    let end = password.lastIndex { $0 != 0 }.map { $0 + 1 } ?? password.startIndex
    return (user, Secret(bytes: password[..<end]))
  }
}
