// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Security

/// The switches, the prompts and the identifiers, which both keychains share.
struct Device {
  var faults = Faults()
  var prompts: [String] = []
  private var lastIdentifier: UInt64 = 0

  /// Asks the user.
  mutating func prompt(_ text: String) throws {
    prompts.append(text)
    guard faults.answer == .allowed else { throw Refusal(faults.answer.status) }
  }

  /// Sixteen bytes, as a persistent reference has.
  ///
  /// SecItem.m (_SecItemParsePersistentRef).
  mutating func newIdentifier() -> [UInt8] {
    lastIdentifier += 1
    let bytes = withUnsafeBytes(of: lastIdentifier.bigEndian, Array.init)
    return [UInt8](repeating: 0, count: 8) + bytes
  }

  /// Returns `true` if an item of a level can be decrypted now.
  ///
  /// SecItem.h, KeychainCryptoTests (testCacheExpiration): the attributes' key of the first class
  /// is dropped with the lock, too.
  func canDecrypt(level: Value?) -> Bool {
    switch level?.string {
    case "dk", "dku": true
    case "ck", "cku": !faults.isBeforeFirstUnlock
    default: !faults.isBeforeFirstUnlock && !faults.isLocked
    }
  }
}
