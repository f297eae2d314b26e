// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Security

/// A dictionary that was read, by the rules of one of the keychains.
struct Query {
  var itemClass: ItemClass?
  var attributes: [String: Value] = [:]
  var data: [UInt8]?
  var accessControl: AccessControl?
  /// The content of `kSecValuePersistentRef`: an item's identifier, or in a file its key.
  var identifier: [UInt8]?
  /// The same of each reference in `kSecMatchItemList`.
  var identifiers: [[UInt8]]?
  var limit = 1
  var hasMatchKeys = false
  var returns: Set<ReturnType> = []
  var interaction = Interaction.allowed
  var prompt = ""

  /// Reads a query for data protection.
  ///
  /// SecDbQuery.c (query_applier): keys of four letters are attributes, others are told apart by
  /// their first letter, and what isn't known is refused.
  init(dataProtection entries: [String: Value], for operation: Operation) throws {
    var entries = entries
    // SecItem.m (SecItemAuthDoQuery): what the program's side keeps for itself.
    interaction = Interaction(entries)
    prompt = entries["u_OpPrompt"]?.string ?? ""
    for key in ["u_OpPrompt", "u_AuthUI", "u_AuthCtx", "nleg"] { entries[key] = nil }
    guard operation == .copyMatching || interaction != .skip else { throw Refusal(errSecParam) }

    if let reference = entries.removeValue(forKey: "v_PersistentRef") {
      guard let parsed = Self.reference(reference) else { throw Refusal(errSecParam) }
      (itemClass, identifier) = (parsed.itemClass, parsed.identifier)
    }
    if let name = entries.removeValue(forKey: "class") {
      let named = try ItemClass.named(name.string, unknown: errSecNoSuchClass)
      guard named == itemClass ?? named else { throw Refusal(errSecNoSuchClass) }
      itemClass = named
    }
    guard let itemClass else { throw Refusal(errSecParam) }
    for (key, value) in entries where key.utf16.count != 4 {
      try read(key, value)
    }
    // SecDbQuery.c (query_create_with_limit): without the attribute only local items are meant.
    if entries["sync"] == nil, identifier == nil { attributes["sync"] = .number(0) }
    if entries["sync"]?.string == "syna" { entries["sync"] = nil }
    try readAttributes(entries.filter { $0.key.utf16.count == 4 }, of: itemClass)
  }

  /// Reads a change for data protection.
  ///
  /// SecDbQuery.c (query_update_applier): attributes and data, and no other key, not even the
  /// class.
  init(dataProtectionChange entries: [String: Value], of itemClass: ItemClass) throws {
    var entries = entries.filter { !["nleg", "musr"].contains($0.key) }
    if let value = entries.removeValue(forKey: "v_Data") { try read("v_Data", value) }
    try readAttributes(entries, of: itemClass)
  }

  private mutating func read(_ key: String, _ value: Value) throws {
    if let type = ReturnType(rawValue: key), case .boolean(let isWanted) = value {
      if isWanted { returns.insert(type) }
    } else if key == "v_Data", case .data(let bytes) = value {
      data = bytes
    } else if key.hasPrefix("m"), value != .unsupported {
      hasMatchKeys = true
      guard key == "m_Limit" else { return }
      switch (value, value.string) {
      case (.number(let count), _): limit = count < 0 ? .max : Int(count)
      case (_, "m_LimitOne"): limit = 1
      case (_, "m_LimitAll"): limit = .max
      default: throw Refusal(errSecParam)
      }
    } else if !key.hasPrefix("f") {
      throw Refusal(errSecParam)
    }
  }

  private mutating func readAttributes(_ entries: [String: Value], of itemClass: ItemClass) throws {
    for (key, value) in entries where key != "accc" {
      // SecItemDb.c (SecDbAttrWithKey), si-05-add (case 7).
      guard let kind = itemClass.dataProtectionKind(of: key) else {
        throw Refusal(errSecNoSuchAttr)
      }
      guard let converted = kind.dataProtection(value) else { throw Refusal(errSecParam) }
      attributes[key] = converted
    }
    let level = try attributes["pdmn"].map { value in
      guard let control = AccessControl(level: value, flags: 0) else { throw Refusal(errSecParam) }
      return control
    }
    // SecItem.m (SecItemAttributesPrepare), KeychainAPITests (testBadTypeInParams).
    guard let value = entries["accc"] else { return }
    guard let control = AccessControl(value), level.map({ $0 == control }) ?? true else {
      throw Refusal(errSecParam)
    }
    accessControl = control
  }

  /// Reads a query for the file-based keychain.
  ///
  /// SecItem.cpp (_CreateSecItemParamsFromDictionary): some values' types are checked, and keys
  /// that it doesn't know are ignored.
  init(file entries: [String: Value]) throws {
    func checked(_ key: String, _ isValid: (Value) -> Bool) throws -> Value? {
      guard let value = entries[key] else { return nil }
      guard isValid(value) else { throw Refusal(errSecParam) }
      return value
    }
    func isText(_ value: Value) -> Bool { value.string != nil }
    func isData(_ value: Value) -> Bool { if case .data = value { true } else { false } }
    func isList(_ value: Value) -> Bool { if case .list = value { true } else { false } }
    func isNumber(_ value: Value) -> Bool { if case .number = value { true } else { false } }

    _ = try checked("svce", isText)
    switch try checked("v_Data", { isData($0) || isText($0) }) {
    case .text(let bytes): data = AttributeKind.beforeNUL(bytes)
    case let value: data = value?.bytes
    }
    let reference = try checked("v_PersistentRef", isData)
    identifier = reference.map { Self.fileIdentifier($0) ?? [] }
    if case .list(let references)? = try checked("m_ItemList", isList) {
      identifiers = references.compactMap(Self.fileIdentifier)
    }
    if identifier == nil || entries["class"] != nil {
      itemClass = try ItemClass.named(entries["class"]?.string, unknown: errSecParam)
    }
    returns = Set(ReturnType.allCases.filter { entries[$0.rawValue] == .boolean(true) })
    switch try checked("m_Limit", { isText($0) || isNumber($0) }) {
    case .number(let count)?:
      guard count >= 0 else { throw Refusal(errSecParam) }
      limit = Int(count)
    case let value: limit = value?.string == "m_LimitAll" ? .max : 1
    }
    // Every password could ask: all of them with data is refused, some of them isn't.
    guard limit != .max || !returns.contains(.data) else { throw Refusal(errSecParam) }
    guard let itemClass else { return }
    attributes = try Self.fileAttributes(entries, of: itemClass)
  }

  /// The attributes that the file-based keychain takes from a dictionary.
  static func fileAttributes(
    _ entries: [String: Value], of itemClass: ItemClass
  ) throws -> [String: Value] {
    var attributes: [String: Value] = [:]
    for (key, value) in entries {
      guard let kind = itemClass.fileKind(of: key) else { continue }
      attributes[key] =
        itemClass == .genericPassword ? kind.fileGeneric(value) : try kind.fileInternet(value)
    }
    return attributes
  }

  /// SecItem.m (_SecItemParsePersistentRef): the class and sixteen bytes.
  static func reference(_ value: Value) -> (itemClass: ItemClass, identifier: [UInt8])? {
    guard case .data(let bytes) = value, bytes.count == 20,
      let itemClass = ItemClass(rawValue: String(decoding: bytes.prefix(4), as: UTF8.self))
    else { return nil }
    return (itemClass, Array(bytes.dropFirst(4)))
  }

  /// The file-based keychain's references have another form, which is its own affair.
  private static func fileIdentifier(_ value: Value) -> [UInt8]? {
    guard case .data(let bytes) = value, bytes.starts(with: FileKeychain.referencePrefix) else {
      return nil
    }
    return Array(bytes.dropFirst(FileKeychain.referencePrefix.count))
  }
}
