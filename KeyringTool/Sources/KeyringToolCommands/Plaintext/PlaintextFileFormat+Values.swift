// SPDX-License-Identifier: Apache-2.0

internal import KeyringMigration
internal import KeyringStorage

extension PlaintextFileFormat {
  /// Returns the values of a file, with the items in which the programs that use it look for them.
  func values(of entries: [PlaintextEntry], service: String) -> [PlaintextImport.Value] {
    let entries = entries.filter { entry in
      if case .unusable = entry.kind { false } else { true }
    }
    switch self {
    case .docker: return DockerFormat.values(of: entries)
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
    if self == .docker { return DockerFormat.problem(of: entry) }
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
    PlaintextImport.Value(entry, name: name, key: key, entry.mapping(to: key))
  }
}
