// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import KeyringStorage

/// An item that was found, and what is needed to find it again.
struct KeychainItem {
  /// The item, with its secret if that was asked for.
  var item: SecureItem
  let reference: KeychainValue?

  /// Creates an item from its entries.
  init(_ found: KeychainDictionary, key: ItemKey, itemClass: KeychainConstant, hasData: Bool) {
    func date(_ entry: KeychainEntry) -> Date? {
      guard case .date(let seconds)? = found[entry] else { return nil }
      return Date(timeIntervalSinceReferenceDate: seconds)
    }
    func text(_ entry: KeychainEntry) -> String? {
      found[entry]?.string.flatMap { $0.isEmpty ? nil : KeychainText.text($0) ?? $0 }
    }
    var attributes = KeychainAttributes.attributes(found, of: itemClass) ?? [:]
    if let comment = text(.comment), key.attributes[AttributeName.comment] == nil {
      attributes[AttributeName.comment] = comment
    }
    item = SecureItem(
      key: key, label: text(.label), attributes: attributes, created: date(.creationDate),
      modified: date(.modificationDate), isLocked: false)
    if hasData {
      // An item without data has an empty secret: that it's there is known from its other entries.
      item.secret = if case .data(let data)? = found[.data] { data } else { Secret("") }
    }
    reference = found[.persistentReference]
  }
}
