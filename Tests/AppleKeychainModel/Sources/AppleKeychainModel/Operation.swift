// SPDX-License-Identifier: Apache-2.0

/// The four calls.
enum Operation {
  case add
  case copyMatching
  case update
  case delete

  /// The keys that macOS takes out of a dictionary before a keychain sees it; iOS takes out nothing.
  ///
  /// SecItem.cpp (SecItemCopyTranslatedAttributes, and its arguments in each of the four calls).
  func translated(
    _ entries: [String: Value], toDataProtection: Bool, on platform: Platform
  ) -> [String: Value] {
    guard platform != .iOS else { return entries }
    var removed: Set = ["nleg"]
    if self == .update || self == .delete {
      removed.formUnion(["r_Data", "r_Attributes", "r_Ref", "r_PersistentRef"])
    }
    if self != .add { removed.insert("v_Data") }
    guard toDataProtection else {
      removed.formUnion(["pdmn", "accc", "agrp", "sync", "tomb"])
      return entries.filter { !removed.contains($0.key) }
    }
    if self != .copyMatching {
      removed.formUnion(["m_Limit", "m_ItemList", "m_CaseInsensitive", "m_SubjectContains"])
    }
    removed.formUnion(["m_SearchList", "u_Keychain", "mdat"])
    if entries["v_PersistentRef"] != nil { removed.insert("sync") }
    return entries.filter { !removed.contains($0.key) }
  }
}
