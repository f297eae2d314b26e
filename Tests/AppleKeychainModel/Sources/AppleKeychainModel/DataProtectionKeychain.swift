// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Security

/// The data protection keychain.
///
/// Its callers hold the model's lock, so each call is a transaction.
struct DataProtectionKeychain {
  var rows: [Row] = []

  /// SecItemServer.c (SecServerItemAddWithCustomDb), SecItemDb.c (s3dl_query_add).
  mutating func add(
    _ entries: [String: Value], by caller: Caller, on device: inout Device
  ) throws -> Value? {
    let groups = try Self.groups(caller.writableGroups, of: caller)
    let query = try Query(dataProtection: entries, for: .add)
    try Self.check(query.attributes, in: groups)
    guard !query.hasMatchKeys, let itemClass = query.itemClass else {
      throw Refusal(errSecParam)
    }
    let now = Value.date(CFAbsoluteTimeGetCurrent())
    // SecDbQuery.c (query_ensure_access_control), SecItemDb.c (query_pre_add).
    let level = query.accessControl?.level ?? "ak"
    var attributes: [String: Value] = [
      "agrp": .text(Array(groups[0].utf8)), "pdmn": .text(Array(level.utf8)),
      "sync": .number(0), "tomb": .number(0), "musr": .data([]),
    ]
    for key in itemClass.keyAttributes { attributes[key] = itemClass.emptyValue(of: key) }
    attributes.merge(query.attributes) { _, given in given }
    attributes.merge(["cdat": now, "mdat": now]) { _, now in now }
    let row = Row(
      itemClass: itemClass, identifier: query.identifier ?? device.newIdentifier(),
      attributes: attributes, data: query.data,
      accessControl: device.faults.isSimulator ? nil : query.accessControl, owner: caller)
    try Self.checkSharing(row)
    try Self.decrypt(row, on: device)
    guard row.attributes["pdmn"]?.string != "akpu" || !device.faults.hasNoPasscode else {
      throw Refusal(errSecAuthFailed)
    }
    try decryptOther(than: row, query, on: &device)
    try makeRoom(for: row)
    rows.append(row)
    // SecItemDb.c (SecDbItemCopyResult): here, data alone of an item without data is empty data.
    return Self.result(for: row, query.returns, withoutData: .data([]))
  }

  /// SecItemServer.c (SecServerItemCopyMatchingWithCustomDb), SecItemDb.c (s3dl_query_row).
  mutating func copyMatching(
    _ entries: [String: Value], by caller: Caller, on device: inout Device
  ) throws -> Value? {
    let groups = try Self.groups(caller.readableGroups, of: caller)
    let query = try Query(dataProtection: entries, for: .copyMatching)
    try Self.check(query.attributes, in: groups)
    // SecItemDb.c (s3dl_copy_matching): a persistent reference excludes attributes in a search alone.
    guard query.identifier == nil || query.attributes.isEmpty else { throw Refusal(errSecParam) }
    var (results, found, didAsk) = ([Value](), 0, false)
    for row in matches(query, in: groups, on: device) {
      // One match that can't be read makes the whole list fail.
      try Self.decrypt(row, on: device)
      if row.isDamaged {
        // SecItemServer.c (SecServerDeleteCorruptedItemAsync): it was never here, and soon isn't.
        rows.removeAll { $0.identifier == row.identifier }
        continue
      }
      // SecDbKeychainItem.m (ks_decrypt_data): with a condition, the secret is tried for attributes
      // alone and for nothing at all, too.
      let isSecret = query.returns.contains(.data) || !device.faults.attributesNeverAsk
      if isSecret, row.accessControl?.asks == true {
        if query.interaction == .skip { continue }
        if !didAsk { try Self.ask(query, on: &device) }
        didAsk = true
      }
      found += 1
      if let result = Self.result(for: row, query.returns) { results.append(result) }
      if found >= query.limit { break }
    }
    guard found > 0 else { throw Refusal(errSecItemNotFound) }
    if query.returns.isEmpty || query.returns == [.reference] { return nil }
    return query.limit == 1 ? results.first : .list(results)
  }

  /// SecItemServer.c (SecServerItemUpdateWithCustomDb), SecItemDb.c (s3dl_query_update): all
  /// matches in one transaction, or none.
  mutating func update(
    _ entries: [String: Value], _ changes: [String: Value], by caller: Caller,
    on device: inout Device
  ) throws {
    let groups = try Self.groups(caller.writableGroups, of: caller)
    try Self.check(entries, in: groups)
    let query = try Query(dataProtection: entries, for: .update)
    // KeychainAPITests (testReturnValuesInSecItemUpdate): iOS refuses these, macOS took them out.
    guard query.returns.isEmpty, !query.hasMatchKeys, let itemClass = query.itemClass else {
      throw Refusal(errSecParam)
    }
    try Self.check(changes, in: groups)
    let change = try Query(dataProtectionChange: changes, of: itemClass)
    var (after, changed, didAsk) = (self, false, false)
    for var row in matches(query, in: groups, on: device) {
      try Self.decrypt(row, on: device)
      after.rows.removeAll { $0.identifier == row.identifier }
      if row.isDamaged { continue }
      if row.accessControl?.asks == true, !didAsk {
        try Self.ask(query, on: &device)
        didAsk = true
      }
      row.attributes.merge(change.attributes) { _, new in new }
      row.attributes["mdat"] = .date(CFAbsoluteTimeGetCurrent())
      if change.attributes["pdmn"] != nil || change.accessControl != nil {
        row.accessControl = device.faults.isSimulator ? nil : change.accessControl
      }
      if let level = row.accessControl?.level {
        row.attributes["pdmn"] = .text(Array(level.utf8))
      }
      row.data = change.data ?? row.data
      try Self.checkSharing(row)
      try Self.decrypt(row, on: device)
      try after.makeRoom(for: row)
      after.rows.append(row)
      changed = true
    }
    self = after
    guard changed else { throw Refusal(errSecItemNotFound) }
  }

  /// SecItemServer.c (SecServerItemDeleteWithCustomDb), SecItemDb.c (s3dl_query_delete): all
  /// matches.
  mutating func delete(
    _ entries: [String: Value], by caller: Caller, on device: inout Device
  ) throws {
    let groups = try Self.groups(caller.writableGroups, of: caller)
    try Self.check(entries, in: groups)
    let query = try Query(dataProtection: entries, for: .delete)
    // Any kind of limit or match is refused; macOS took them out.
    guard !query.hasMatchKeys else { throw Refusal(errSecParam) }
    let matches = matches(query, in: groups, on: device)
    // Only the mark that a shared item leaves for other devices needs its contents.
    for row in matches where row.attributes["sync"] == .number(1) {
      try Self.decrypt(row, on: device)
    }
    guard !matches.isEmpty else { throw Refusal(errSecItemNotFound) }
    let gone = Set(matches.map(\.identifier))
    rows.removeAll { gone.contains($0.identifier) }
  }

  /// The groups that a call may use.
  ///
  /// KeychainEntitlementsTest (testNoEntitlements, testInvalidEntitlementsAppID).
  private static func groups(_ groups: [String], of caller: Caller) throws -> [String] {
    guard caller.isConfirmed, !groups.isEmpty else { throw Refusal(errSecMissingEntitlement) }
    return groups
  }

  /// KeychainEntitlementsTest (testEntitlementForExplicitAccessGroupLacking).
  private static func check(_ attributes: [String: Value], in groups: [String]) throws {
    guard let group = attributes["agrp"] else { return }
    guard groups.contains(String(decoding: group.bytes, as: UTF8.self)) else {
      throw Refusal(errSecMissingEntitlement)
    }
  }

  /// An item that devices share has no access control and no level that stays on one device.
  ///
  /// SecItem.m (SecItemAuthDoQuery); SecItem.h, whose status for the second is not known.
  private static func checkSharing(_ row: Row) throws {
    guard row.attributes["sync"] == .number(1) else { return }
    guard row.accessControl == nil, row.attributes["pdmn"]?.string?.hasSuffix("u") != true
    else { throw Refusal(errSecParam) }
  }

  private static func decrypt(_ row: Row, on device: Device) throws {
    guard device.canDecrypt(level: row.attributes["pdmn"]) else {
      throw Refusal(errSecInteractionNotAllowed)
    }
  }

  private static func ask(_ query: Query, on device: inout Device) throws {
    // SecItem.m (SecItemAuthDo).
    guard !device.faults.lacksLocalAuthentication else { throw Refusal(errSecUnimplemented) }
    guard query.interaction == .allowed else { throw Refusal(errSecInteractionNotAllowed) }
    try device.prompt(query.prompt)
  }

  /// The matches, in the order of their rows.
  private func matches(_ query: Query, in groups: [String], on device: Device) -> [Row] {
    guard !device.faults.isBeforeFirstUnlock || !device.faults.looksAbsentBeforeFirstUnlock else {
      return []
    }
    return rows.filter { row in
      row.itemClass == query.itemClass
        && groups.contains(row.attributes["agrp"]?.string ?? "")
        && row.identifier == query.identifier ?? row.identifier
        && row.matches(query.attributes)
    }.sorted { $0.identifier.lexicographicallyPrecedes($1.identifier) }
  }

  /// Decrypts the item in the way of a new one, to see if it's damaged.
  ///
  /// SecDbItem.c (SecDbItemInsertOrReplace, SecDbItemIsCorrupt).
  private func decryptOther(than row: Row, _ query: Query, on device: inout Device) throws {
    let key = row.key(with: ["agrp", "sync"])
    guard let other = rows.first(where: { $0.key(with: ["agrp", "sync"]) == key }),
      !device.faults.addNeverAsks
    else { return }
    try Self.decrypt(other, on: device)
    if other.accessControl?.asks == true { try Self.ask(query, on: &device) }
  }

  /// Refuses a key that exists.
  ///
  /// SecItemDb.c (UNIQUE), SecDbItem.c (SecDbItemInsertOrReplace, SecDbItemUpdate): an item that
  /// can't be decoded gives way.
  private mutating func makeRoom(for row: Row) throws {
    let key = row.key(with: ["agrp", "sync"])
    guard let other = rows.firstIndex(where: { $0.key(with: ["agrp", "sync"]) == key }) else {
      return
    }
    guard rows[other].isDamaged else { throw Refusal(errSecDuplicateItem) }
    rows.remove(at: other)
  }

  /// SecItemDb.c (handle_result), SecItem.m (SecItemResultCopyPrepared): one type comes as itself,
  /// several as a dictionary; a class is never in it, and absent data is absent.
  private static func result(
    for row: Row, _ returns: Set<ReturnType>, withoutData: Value? = nil
  ) -> Value? {
    let data = row.data.map(Value.data)
    let reference = Value.data(Array(row.itemClass.rawValue.utf8) + row.identifier)
    switch returns {
    case [], [.reference]: return nil
    case [.data]: return data ?? withoutData
    case [.persistentReference]: return reference
    default: break
    }
    var result: [String: Value] = [:]
    if returns.contains(.attributes) {
      result = row.attributes
      let level = AccessControl(level: row.attributes["pdmn"] ?? .text([]), flags: 0)
      result["accc"] = (row.accessControl ?? level)?.value
    }
    if returns.contains(.data) { result["v_Data"] = data }
    if returns.contains(.persistentReference) { result["v_PersistentRef"] = reference }
    return .dictionary(result)
  }
}
