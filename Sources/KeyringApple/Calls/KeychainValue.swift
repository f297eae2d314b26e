// SPDX-License-Identifier: Apache-2.0

package import KeyringStorage

/// A value in a dictionary of the SecItem functions.
package enum KeychainValue: Sendable, Equatable {
  case text(String)
  case data(Secret)
  case number(Int64)
  case boolean(Bool)
  /// The seconds since the beginning of 2001.
  case date(Double)
  case constant(KeychainConstant)
  indirect case list([KeychainValue])
  /// A level and the flags of `SecAccessControlCreateFlags`.
  case accessControl(KeychainConstant, flags: UInt)
  /// The text of a question to the user, and the permission to ask it.
  case context(prompt: String?, mayAsk: Bool)
}

/// A constant of the Security framework.
package enum KeychainConstant: Sendable, Hashable {
  case genericPassword, internetPassword
  case limitAll
  case whenUnlocked, afterFirstUnlock
  case whenUnlockedThisDeviceOnly, afterFirstUnlockThisDeviceOnly, whenPasscodeSetThisDeviceOnly
}

extension KeychainValue {
  /// The text, which may have been stored as data.
  package var string: String? {
    switch self {
    case .text(let text): text
    case .data(let data): data.text
    default: nil
    }
  }
}
