// SPDX-License-Identifier: Apache-2.0

/// An entry of a `.netrc` file.
struct NetrcMachine {
  /// The server and the login, or `nil` for the entry of all other servers.
  var path: [String]?
  /// The range of the password, or `nil` if there is none.
  var password: Range<Int>?
  /// Indicates whether the password has escape sequences.
  var isEscaped = false
  /// The reason why no item can be made from the entry.
  var problem: String?
  /// The range to cut out.
  var range: Range<Int>
}
