// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform

/// A credential in JSON, with only a login and a password.
///
/// Any other member is refused, because it would be lost.
package struct ExternalCredential: Decodable {
  let login: String
  let password: String

  package init(from decoder: any Decoder) throws {
    let members = try decoder.singleValueContainer().decode([String: String].self)
    guard members.count == 2, let login = members["login"], let password = members["password"]
    else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: [], debugDescription: "not a login and a password"))
    }
    (self.login, self.password) = (login, password)
  }
}
