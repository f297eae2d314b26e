// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

extension KeychainOperation {
  /// Returns the error for a status, with Apple's text.
  ///
  /// - Parameters:
  ///   - status: The status.
  ///   - function: The name of the function that returned it.
  ///   - entries: The query of the function. Only the names of its entries are shown.
  /// - Returns: The error.
  func failure(
    _ status: Int32, of function: String, _ entries: KeychainDictionary
  ) -> SecureStorageError {
    let text = storage.calls?.message(for: status) ?? "\(status)"
    let meaning = meaning(of: status, of: function, entries)
    return storage.error(
      meaning.code, during: name, message: meaning.message,
      recoverySuggestion: meaning.recoverySuggestion,
      underlying: .init(domain: "OSStatus", code: Int(status), text: text))
  }

  private func meaning(
    of status: Int32, of function: String, _ entries: KeychainDictionary
  ) -> Meaning {
    switch status {
    case KeychainStatus.missingEntitlement where entries[.accessGroup] != nil && isEntitled:
      return Meaning(
        .accessDenied, "The program isn't entitled to the access group.",
        "Add the group to the program's entitlements, under Keychain Sharing.")
    case KeychainStatus.param, KeychainStatus.unimplemented, KeychainStatus.noSuchAttr,
      KeychainStatus.noSuchClass:
      let names = entries.keys.map(\.rawValue).sorted().joined(separator: ", ")
      return Meaning(
        .other, "\(function) refused a query of \(names).",
        "Report this as a fault of swift-keyring.")
    default:
      return Meaning(status)
        ?? Meaning(.other, "\(function) failed.", "Look up the number at developer.apple.com.")
    }
  }
}

/// The meaning of a status for people.
private struct Meaning {
  let code: SecureStorageError.Code
  let message: String
  let recoverySuggestion: String

  init(_ code: SecureStorageError.Code, _ message: String, _ recoverySuggestion: String) {
    (self.code, self.message) = (code, message)
    self.recoverySuggestion = recoverySuggestion
  }

  /// Creates the meaning of a status that has the same one for each call.
  init?(_ status: Int32) {
    switch status {
    case KeychainStatus.missingEntitlement:
      self.init(
        .noStorage, "The program has no entitlement for the data protection keychain.",
        "Sign the program as an app, or use .fileBased on macOS.")
    case KeychainStatus.interactionNotAllowed, KeychainStatus.interactionRequired,
      KeychainStatus.inDarkWake:
      self.init(
        .locked, "The device or the keychain is locked, or the user would have to be asked.",
        "Try again after the device was unlocked, or allow the program to ask.")
    case KeychainStatus.userCanceled:
      self.init(
        .userCanceled, "The user dismissed the question.", "Try again, and answer the question.")
    case KeychainStatus.authFailed, KeychainStatus.restrictedAPI, KeychainStatus.wrPerm,
      KeychainStatus.invalidOwnerEdit:
      self.init(
        .accessDenied, "The keychain refused access to the item.",
        "In Keychain Access, look at the programs that may use the item.")
    case KeychainStatus.noDefaultKeychain:
      self.init(
        .noDefaultCollection, "The user has no default keychain.",
        "Make a keychain the default one in Keychain Access.")
    case KeychainStatus.noSuchKeychain, KeychainStatus.invalidKeychain:
      self.init(
        .collectionNotFound, "The keychain is missing or isn't valid.",
        "Look at the list of keychains in Keychain Access.")
    case KeychainStatus.notAvailable, KeychainStatus.serviceNotAvailable:
      self.init(
        .providerFailed, "The keychain isn't available.", "Log in again, or restart the device.")
    case KeychainStatus.decode:
      self.init(
        .damaged, "The item can't be decoded.", "Remove the item, and store it again.")
    default: return nil
    }
  }
}
