// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Security

/// The file-based keychain of macOS.
///
/// It knows neither access groups nor levels. An item trusts the program that made it, and has a partition list, the
/// team of the program that wrote its secret. Others make the system ask.
struct FileKeychain {
  static let referencePrefix = Array("file".utf8)

  var rows: [Row] = []

  /// SecItem.cpp (SecItemAdd_osx), Item.cpp (addWithCopyInfo).
  mutating func add(
    _ entries: [String: Value], by caller: Caller, on device: inout Device
  ) throws -> Value? {
    let query = try Query(file: entries)
    guard let itemClass = query.itemClass, query.identifier == nil else {
      throw Refusal(errSecParam)
    }
    var attributes = query.attributes
    // Without a label, the service or the server is the label; without them, the account.
    let names = [itemClass == .genericPassword ? "svce" : "srvr", "acct"]
    if attributes["labl"] == nil, let name = names.lazy.compactMap({ attributes[$0] }).first,
      !name.bytes.isEmpty
    {
      attributes["labl"] = name
    }
    for key in itemClass.keyAttributes where attributes[key] == nil {
      attributes[key] = itemClass.emptyValue(of: key)
    }
    let now = Value.date(CFAbsoluteTimeGetCurrent().rounded(.down))
    attributes.merge(["cdat": now, "mdat": now]) { _, now in now }
    let row = Row(
      itemClass: itemClass, identifier: device.newIdentifier(), attributes: attributes,
      data: query.data ?? [], owner: caller, partition: caller.team)
    try Self.unlock(on: &device)
    guard !rows.contains(where: { $0.key() == row.key() }) else {
      throw Refusal(errSecDuplicateItem)
    }
    rows.append(row)
    return try Self.result(for: row, query.returns, by: caller, on: &device)
  }

  /// SecItem.cpp (SecItemCopyMatching_osx, AddItemResults): more than one allowed makes a list.
  func copyMatching(
    _ entries: [String: Value], by caller: Caller, on device: inout Device
  ) throws -> Value? {
    let query = try Query(file: entries)
    let found = rows.filter { matches($0, query) }.prefix(query.limit)
    guard !found.isEmpty else { throw Refusal(errSecItemNotFound) }
    let results = try found.compactMap {
      try Self.result(for: $0, query.returns, by: caller, on: &device)
    }
    return query.limit > 1 ? (results.isEmpty ? nil : .list(results)) : results.first
  }

  /// The first half of an update or a deletion: one item unless all are asked for, and references
  /// to them, which can be out of date when the second half comes.
  ///
  /// SecItem.cpp (SecItemUpdate_osx).
  func search(_ entries: [String: Value]) throws -> [Row] {
    let query = try Query(file: entries)
    let found = rows.filter { matches($0, query) }.prefix(query.limit)
    guard !found.isEmpty else { throw Refusal(errSecItemNotFound) }
    return Array(found)
  }

  /// The second half of an update: item by item, each with its attributes and its data together.
  ///
  /// The last error is the answer; what was changed before it stays changed. SecItem.cpp
  /// (_UpdateKeychainItem, _UpdateAggregateStatus).
  mutating func update(
    _ found: [Row], _ changes: [String: Value], by caller: Caller,
    on device: inout Device
  ) throws {
    var failure: (any Error)?
    for row in found {
      do {
        try update(row, changes, by: caller, on: &device)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  private mutating func update(
    _ found: Row, _ changes: [String: Value], by caller: Caller, on device: inout Device
  ) throws {
    // Item.cpp (updateSSGroup), AppleDatabase.cpp, SecBase.cpp: new data replaces the record, which
    // another program then doesn't find any more.
    guard let index = rows.firstIndex(where: { $0.identifier == found.identifier }),
      rows[index].replacements.count == found.replacements.count
        || rows[index].replacements.by == caller.name
    else { throw Refusal(errSecItemNotFound) }
    var row = rows[index]
    row.attributes.merge(try Query.fileAttributes(changes, of: row.itemClass)) { _, new in new }
    row.attributes["mdat"] = .date(CFAbsoluteTimeGetCurrent().rounded(.down))
    switch changes["v_Data"] {
    case .data([])? where device.faults.emptyFileUpdate == .refused: throw Refusal(errSecParam)
    case .data(let bytes)? where !bytes.isEmpty || device.faults.emptyFileUpdate == .stores:
      row.data = bytes
      row.replacements = (row.replacements.count + 1, caller.name)
      // Item.cpp (updateSSGroup): a new secret isn't asked about, and has the writer's partition list. The list of
      // trusted programs is copied.
      row.partition = caller.team
      try Self.unlock(on: &device)
    case nil, .data?:
      try Self.unlock(on: &device)
      try Self.confirm("change", row, for: caller, on: &device)
    // si-11-update-data: data that isn't data.
    default: throw Refusal(errSecParam)
    }
    let others = rows.filter { $0.identifier != row.identifier }
    guard !others.contains(where: { $0.key() == row.key() }) else {
      throw Refusal(errSecDuplicateItem)
    }
    rows[index] = row
  }

  /// The second half of a deletion.
  ///
  /// SecItem.cpp (_SafeSecKeychainItemDelete): an item that trusts no program of the caller's name is refused without
  /// a prompt, except a web form's password.
  mutating func delete(_ found: [Row], by caller: Caller) throws {
    var failure: (any Error)?
    let identifiers = found.map(\.identifier)
    for index in rows.indices.reversed() where identifiers.contains(rows[index].identifier) {
      let row = rows[index]
      if row.owner.name == caller.name || row.trustsAll || row.attributes["atyp"]?.string == "form"
      {
        rows.remove(at: index)
      } else {
        failure = Refusal(errSecInvalidOwnerEdit)
      }
    }
    if let failure { throw failure }
  }

  /// SecItem.cpp (SecItemSearchCopyNext, FilterCandidateItem): a persistent reference alone
  /// decides; a list of references is a condition more.
  ///
  /// Item.cpp (copyPersistentReference): a reference is the item's key, and changes with it.
  private func matches(_ row: Row, _ query: Query) -> Bool {
    if let key = query.identifier { return row.key() == key }
    return row.itemClass == query.itemClass && row.matches(query.attributes)
      && query.identifiers?.contains(row.key()) ?? true
  }

  /// kc-05-find-existing-items-locked: attributes can be read while the file is locked.
  private static func unlock(on device: inout Device) throws {
    guard device.faults.isFileLocked else { return }
    try device.prompt("unlock the file")
    device.faults.isFileLocked = false
  }

  /// Asks about an item that doesn't trust the program, or whose partition list has another team.
  private static func confirm(
    _ action: String, _ row: Row, for caller: Caller, on device: inout Device
  ) throws {
    let isTrusted = row.trustsAll || row.owner.identity == caller.identity
    guard isTrusted, row.partition == caller.team else {
      return try device.prompt("\(action) \(row.owner.name)'s item")
    }
  }

  /// SecItem.cpp (AddItemResults, and the two functions that make a dictionary of attributes): the
  /// class is in it, empty text isn't; data is always there.
  ///
  /// A reference to an item isn't modelled.
  private static func result(
    for row: Row, _ returns: Set<ReturnType>, by caller: Caller, on device: inout Device
  ) throws -> Value? {
    var result: [String: Value] = [:]
    if returns.contains(.persistentReference) {
      result["v_PersistentRef"] = .data(referencePrefix + row.key())
    }
    if returns.contains(.data) {
      try unlock(on: &device)
      try confirm("read", row, for: caller, on: &device)
      guard !row.isDamaged else { throw Refusal(errSecDecode) }
      result["v_Data"] = .data(row.data ?? [])
    }
    if returns.contains(.attributes) {
      // No protocol and no authentication type are never shown, in either form.
      let shown = row.attributes.filter { key, value in
        !value.bytes.isEmpty && (value != .number(0) || !["ptcl", "atyp"].contains(key))
      }
      result.merge(shown) { first, _ in first }
      result["class"] = .text(Array(row.itemClass.rawValue.utf8))
    }
    if returns.count == 1, !returns.contains(.attributes) { return result.first?.value }
    return returns.isEmpty ? nil : .dictionary(result)
  }
}
