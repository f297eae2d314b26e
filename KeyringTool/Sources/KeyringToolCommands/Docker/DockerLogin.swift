// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
internal import Keyring

/// A login to a registry, as docker's `config.json` has it.
struct DockerLogin {
  let user: String
  let secret: Secret

  private struct Content: Decodable {
    let auth, identitytoken, username, password: String?
  }

  init?(_ json: Secret) {
    guard let content = json.decoded(as: Content.self, by: JSONDecoder()) else { return nil }
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
      let user = String(validating: pair[..<colon], as: UTF8.self), !user.utf8.contains(0)
    else { return nil }
    // As docker does, this drops NULs at the end.
    let password = pair[(colon + 1)...]
    let end = password.lastIndex { $0 != 0 }.map { $0 + 1 } ?? password.startIndex
    return (user, Secret(bytes: password[..<end]))
  }
}
