// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Security

/// Which keychains a dictionary concerns.
///
/// SecItem.cpp (SecItemCategorizeQuery).
struct Targets {
  let dataProtection: Bool
  let file: Bool

  init(_ entries: [String: Value], on platform: Platform) throws {
    if platform != .macOS {
      (dataProtection, file) = (true, false)
      return
    }
    // The flag alone decides; kSecAttrSynchronizable with the flag false is dropped, not obeyed.
    if let flag = entries["nleg"] {
      dataProtection = flag.integer.map { $0 != 0 } ?? false
      file = !dataProtection
      return
    }
    let reference = entries["v_PersistentRef"]
    let isForFile =
      reference.map { Query.reference($0) == nil } ?? (entries["class"] == nil)
      || ["m_ItemList", "m_SearchList", "u_ItemList", "u_Keychain", "acls"].contains {
        entries[$0] != nil
      }
    let isForDataProtection =
      entries["accc"] != nil || entries["tkid"] != nil
      || entries["agrp"]?.string == Caller.tokenGroup
      || entries["sync"]?.integer.map { $0 != 0 } == true
      || reference.map { Query.reference($0) != nil } == true
    (dataProtection, file) = (!isForFile, !isForDataProtection)
    guard dataProtection || file else { throw Refusal(errSecParam) }
  }

  /// Puts two answers together.
  ///
  /// SecItem.cpp (SecItemMergeResults): an error of data protection is dropped, and one of the file
  /// only counts when data protection found nothing either.
  func merged(
    dataProtection first: () throws -> Value?, file second: () throws -> Value?
  ) throws -> Value? {
    guard dataProtection else { return try second() }
    guard file else { return try first() }
    guard case .success(let value) = Result(catching: first) else { return try second() }
    guard case .success(let other) = Result(catching: second) else { return value }
    guard case .list(let values)? = value, case .list(let others)? = other else {
      return value ?? other
    }
    return .list(values + others)
  }
}
