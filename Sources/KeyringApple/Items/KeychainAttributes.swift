// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// The attributes of an item beside its key, as one value that changes as a whole.
enum KeychainAttributes {
  /// Returns the entry that has the attributes of a class of items.
  ///
  /// Apple's internet passwords have no generic attribute. Of the ones that they have, this one isn't meant
  /// to be changed by users, who see it as the kind of the item.
  static func entry(of itemClass: KeychainConstant) -> KeychainEntry {
    itemClass == .internetPassword ? .description : .generic
  }

  /// The attributes of an internet password that has none, as users see them.
  private static let none = "Internet password"

  /// Returns the attributes that are in the entry.
  ///
  /// A comment has an entry of its own, but an empty one is listed, because empty text may be dropped.
  static func listed(_ attributes: [String: String]) -> [String: String] {
    attributes.filter { $0.key != AttributeName.comment || $0.value.isEmpty }
  }

  /// Returns the value of the entry.
  static func value(
    _ attributes: [String: String], of itemClass: KeychainConstant
  ) -> KeychainValue {
    let list = listed(attributes).sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    guard itemClass == .internetPassword else {
      return .data(Secret(KeychainText.stored(list: list)))
    }
    return .text(list.isEmpty ? none : KeychainText.stored(list: list))
  }

  /// Returns the attributes of an item, or `nil` for an entry of another program.
  ///
  /// - Parameters:
  ///   - found: The entries of the item.
  ///   - itemClass: The class of the item.
  /// - Returns: The attributes.
  static func attributes(
    _ found: KeychainDictionary, of itemClass: KeychainConstant
  ) -> [String: String]? {
    guard let value = found[entry(of: itemClass)], value != .text(""), value != .data(Secret(""))
    else { return [:] }
    if itemClass == .internetPassword, value.string == none { return [:] }
    guard let list = value.string.flatMap(KeychainText.list), list.count.isMultiple(of: 2) else {
      return nil
    }
    let names = stride(from: 0, to: list.count, by: 2)
    return Dictionary(names.map { (list[$0], list[$0 + 1]) }) { first, _ in first }
  }
}
