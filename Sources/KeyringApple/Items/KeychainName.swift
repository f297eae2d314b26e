// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// The entries under which a keychain keeps the item of a key.
///
/// Different keys have different entries. A key is that of an item only if it has the item's entries, so no two
/// items have the same key.
struct KeychainName {
  /// The class and all the entries that tell items apart, except for the access group.
  private(set) var entries: KeychainDictionary = [:]
  private(set) var itemClass = KeychainConstant.genericPassword
  /// The access group, or `nil` for the storage's own group.
  private(set) var group: String?

  /// `false` for entries that an item with an authentication type can have, too.
  var isExact: Bool { itemClass == .genericPassword || entries[.authenticationType] != nil }

  /// Finds the entries for a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - isFileBased: `true` for the keychain without access groups.
  init(_ key: ItemKey, isFileBased: Bool) {
    var parts = key.attributes
    // In an entry, an empty part is the same as a missing one. Only a list tells them apart.
    let hasEmptyPart = parts.values.contains("")
    if !isFileBased, let group = parts[AttributeName.accessGroup], !group.isEmpty,
      KeychainText.stored(group).hasSameBytes(group)
    {
      self.group = group
      parts[AttributeName.accessGroup] = nil
    }
    let isUsual = !hasEmptyPart && key.schema == nil
    let server = key.kind == .internetPassword && isUsual ? KeychainServer(parts) : nil
    if let server {
      itemClass = .internetPassword
      entries = server.entries(isFileBased: isFileBased)
    } else {
      let service = parts[AttributeName.service].flatMap { $0.isEmpty ? nil : $0 }
      if service != nil { parts[AttributeName.service] = nil }
      let username = parts[AttributeName.username]
      let isPlain =
        key.kind == .password && isUsual && parts.count == (username == nil ? 0 : 1)
        && (service ?? username) != nil
      entries[.service] = .text(service.map(KeychainText.stored) ?? "")
      entries[.account] = .text(
        isPlain
          ? username.map(KeychainText.stored) ?? ""
          : KeychainText.stored(
            list: [key.storedKind]
              + parts.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }))
    }
    entries[.itemClass] = .constant(itemClass)
  }
}

extension ItemKey {
  /// Finds the key of an item, or `nil` for entries that belong to no key.
  ///
  /// - Parameters:
  ///   - found: The entries of the item.
  ///   - itemClass: The class of the item.
  ///   - isFileBased: `true` for the keychain without access groups.
  ///   - ownGroup: The access group that keys leave out.
  init?(
    _ found: KeychainDictionary, of itemClass: KeychainConstant, isFileBased: Bool,
    ownGroup: String?
  ) {
    var kind = ItemKind.password.rawValue
    var parts: [String: String] = [:]
    if itemClass == .internetPassword {
      kind = ItemKind.internetPassword.rawValue
      guard let server = KeychainServer(found, isFileBased: isFileBased) else { return nil }
      parts = server.parts
    } else {
      guard let account = (found[.account] ?? .text("")).string,
        let service = (found[.service] ?? .text("")).string.flatMap(KeychainText.text)
      else { return nil }
      if !service.isEmpty { parts[AttributeName.service] = service }
      if let list = KeychainText.list(account), let first = list.first, list.count % 2 == 1 {
        kind = first
        for index in stride(from: 1, to: list.count, by: 2) { parts[list[index]] = list[index + 1] }
      } else if let username = KeychainText.text(account), !username.isEmpty {
        parts[AttributeName.username] = username
      }
    }
    if !isFileBased, let group = found[.accessGroup]?.string,
      ownGroup.map({ !group.hasSameBytes($0) }) ?? true
    {
      parts[AttributeName.accessGroup] = group
    }
    if parts.isEmpty { return nil }
    self.init(storedKind: kind[...], attributes: parts)
    let name = KeychainName(self, isFileBased: isFileBased)
    let isSame = name.entries.allSatisfy { entry, value in
      guard let text = value.string else { return true }
      return (found[entry]?.string ?? "").hasSameBytes(text)
    }
    guard isSame, name.itemClass == itemClass else { return nil }
  }
}
