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
    case KeychainStatus.authFailed where entries.needsPasscode:
      return Meaning(
        .accessDenied, "The device has no passcode, which the item's accessibility needs.",
        "Set a passcode on the device, or choose another accessibility there.")
    case KeychainStatus.authFailed where !keychain.isFileBased:
      return Meaning(
        .accessDenied, "The user wasn't confirmed.",
        "Try again, with a finger, a face or the passcode.")
    case KeychainStatus.unimplemented where !keychain.isFileBased:
      return Meaning(
        .other, "This device can't ask for the confirmation that the item needs.",
        "Use a storage without an accessControl on such devices.")
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

extension KeychainDictionary {
  /// `true` for a new item of the level that a device without a passcode doesn't have.
  fileprivate var needsPasscode: Bool {
    switch self[.accessible] ?? self[.accessControl] {
    case .constant(.whenPasscodeSetThisDeviceOnly),
      .accessControl(.whenPasscodeSetThisDeviceOnly, _):
      true
    default: false
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
        "Sign the program as an app with a profile that confirms its identifier, or use .fileBased on macOS."
      )
    case KeychainStatus.interactionNotAllowed, KeychainStatus.interactionRequired,
      KeychainStatus.inDarkWake:
      self.init(
        .locked, "The device or the keychain is locked, or the user would have to be asked.",
        "Try again after the device was unlocked, or allow the program to ask.")
    case KeychainStatus.userCanceled:
      self.init(
        .userCanceled, "The user dismissed the question.", "Try again, and answer the question.")
    case KeychainStatus.invalidOwnerEdit:
      self.init(
        .accessDenied,
        "The item trusts only programs of another name, so this one can't remove it.",
        "Remove it by the program that has stored it, or in Keychain Access.")
    case KeychainStatus.authFailed, KeychainStatus.restrictedAPI, KeychainStatus.wrPerm:
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
