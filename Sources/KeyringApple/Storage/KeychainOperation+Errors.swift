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
    let underlying = SecureStorageError.Underlying(
      domain: "OSStatus", code: Int(status), text: text)
    let (code, message, suggestion): (SecureStorageError.Code, String, String)
    switch status {
    case KeychainStatus.missingEntitlement where entries[.accessGroup] != nil && isEntitled:
      (code, message, suggestion) = (
        .accessDenied, "The program isn't entitled to the access group.",
        "Add the group to the program's entitlements, under Keychain Sharing."
      )
    case KeychainStatus.missingEntitlement:
      (code, message, suggestion) = (
        .noStorage, "The program has no entitlement for the data protection keychain.",
        "Sign the program as an app, or use .fileBased on macOS."
      )
    case KeychainStatus.interactionNotAllowed, KeychainStatus.interactionRequired,
      KeychainStatus.inDarkWake:
      (code, message, suggestion) = (
        .locked, "The device or the keychain is locked, or the user would have to be asked.",
        "Try again after the device was unlocked, or allow the program to ask."
      )
    case KeychainStatus.userCanceled:
      (code, message, suggestion) = (
        .userCanceled, "The user dismissed the question.", "Try again, and answer the question."
      )
    case KeychainStatus.authFailed, KeychainStatus.restrictedAPI, KeychainStatus.wrPerm,
      KeychainStatus.invalidOwnerEdit:
      (code, message, suggestion) = (
        .accessDenied, "The keychain refused access to the item.",
        "In Keychain Access, look at the programs that may use the item."
      )
    case KeychainStatus.noDefaultKeychain:
      (code, message, suggestion) = (
        .noDefaultCollection, "The user has no default keychain.",
        "Make a keychain the default one in Keychain Access."
      )
    case KeychainStatus.noSuchKeychain, KeychainStatus.invalidKeychain:
      (code, message, suggestion) = (
        .collectionNotFound, "The keychain is missing or isn't valid.",
        "Look at the list of keychains in Keychain Access."
      )
    case KeychainStatus.notAvailable, KeychainStatus.serviceNotAvailable:
      (code, message, suggestion) = (
        .providerFailed, "The keychain isn't available.", "Log in again, or restart the device."
      )
    case KeychainStatus.decode:
      (code, message, suggestion) = (
        .damaged, "The item can't be decoded.", "Remove the item, and store it again."
      )
    case KeychainStatus.param, KeychainStatus.unimplemented, KeychainStatus.noSuchAttr,
      KeychainStatus.noSuchClass:
      let names = entries.keys.map(\.rawValue).sorted().joined(separator: ", ")
      (code, message, suggestion) = (
        .other, "\(function) refused a query of \(names).",
        "Report this as a fault of swift-keyring."
      )
    default:
      (code, message, suggestion) = (
        .other, "\(function) failed.", "Look up the number at developer.apple.com."
      )
    }
    return storage.error(
      code, during: name, message: message, recoverySuggestion: suggestion, underlying: underlying)
  }
}
