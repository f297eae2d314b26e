// SPDX-License-Identifier: Apache-2.0

internal import KeyringMigration
internal import KeyringStorage

/// The format of docker's `config.json`, in which it finds the logins of registries without a helper.
enum DockerFormat {
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
    return switch name {
    case "auth": DockerLogin.pair(entry.secret.text ?? "") == nil
    case "identitytoken", "password", "username": entry.kind != .text
    default: name != "email"
    }
  }

  private static let lost = "is of a login that docker's helper can't keep as a whole"

  static func problem(of entry: PlaintextEntry) -> String? {
    if isLost(entry) { return lost }
    switch entry.path.first {
    case "HttpHeaders" where entry.path.last?.lowercased() != "user-agent":
      return "is a header for every registry, which no item can be"
    case "proxies" where entry.secret.withUnsafeBytes({ $0.contains(UInt8(ascii: "@")) }):
      return "is a proxy with a login, which no item can be"
    default: return nil
    }
  }

  /// Returns a value for each registry with a password, as docker's own helpers store it.
  static func values(of entries: [PlaintextEntry]) -> [PlaintextImport.Value] {
    func registries(_ isIncluded: (PlaintextEntry) -> Bool) -> Set<String> {
      Set(entries.filter(isIncluded).compactMap { login($0)?.server })
    }
    var seen = registries(isLost)
    let named = registries {
      ["auth", "identitytoken", "username"].contains(login($0)?.name) && $0.secret.count > 0
    }
    return entries.compactMap { entry in
      guard let (server, name) = login(entry), entry.path.last == name,
        ["auth", "identitytoken", "password"].contains(name), entry.secret.count > 0,
        seen.insert(server).inserted
      else { return nil }
      let key = DockerCredentials.key(server)
      let mapping = PlaintextMapping(path: Array(entry.path.dropLast()), as: key) { json in
        DockerLogin(json).map {
          DockerCredentials.item(key, server: server, user: $0.user, $0.secret)
        }
      }
      return PlaintextImport.Value(
        entry, name: server, key: key, mapping, problem: named.contains(server) ? nil : lost)
    }
  }
}
