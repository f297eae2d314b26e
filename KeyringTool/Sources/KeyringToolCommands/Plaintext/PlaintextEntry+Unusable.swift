// SPDX-License-Identifier: Apache-2.0

internal import KeyringMigration
internal import KeyringStorage

extension PlaintextEntry {
  /// The password with which programs log in to GitHub if the login is a token.
  static let noPassword = "x-oauth-basic"
  /// The reason why no item is made from such a login.
  static let tokenAsLogin = "has a token as the login, which an item would show"

  /// Returns an entry from which no item is made, for the reason that a phrase tells.
  static func unusable(_ problem: String, _ range: Range<Int>) -> PlaintextEntry {
    PlaintextEntry(path: [], kind: .unusable(problem), secret: Secret(""), range: range)
  }
}
