// SPDX-License-Identifier: Apache-2.0

/// The permission of a call to ask the user.
///
/// SecItem.m (SecItemAuthCopyParams, SecItemAuthDo).
enum Interaction {
  case allowed
  /// `kSecUseAuthenticationUIFail`, or a context that doesn't interact.
  case never
  /// `kSecUseAuthenticationUISkip`: items that would ask look absent.
  case skip

  init(_ entries: [String: Value]) {
    let context = entries["u_AuthCtx"]?.string
    switch entries["u_AuthUI"]?.string {
    case "u_AuthUIS": self = .skip
    case "u_AuthUIF": self = .never
    default: self = context == KeychainModel.nonInteractiveContext ? .never : .allowed
    }
  }
}
