// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A selection of one or more items, as named on a command line.
public struct ItemSelection: Sendable {
  /// An error that says that a selection is ambiguous or contradicts itself.
  public struct Unclear: Error, Equatable {
    /// A sentence that says what to specify instead.
    public let message: String
    /// The arguments that select items that are there.
    public internal(set) var candidates: [String] = []
  }

  /// The service of passwords, values, and credentials.
  public var service: String?
  /// The account of a password, a value, or an internet password.
  public var account: String?
  /// The access group of a password or a value.
  public var accessGroup: String?
  /// The label of a credential within its service.
  public var credential: String?
  /// The server of an internet password.
  public var server: InternetServer?
  /// Whether the item is a value rather than a password.
  public var isValue: Bool
  /// The parts of the key that have no option of their own, by attribute name.
  public var attributes: [String: String]
  /// The schema of the item, or `nil` if it isn't named.
  public var schema: String?

  /// Creates a selection.
  ///
  /// - Parameters:
  ///   - service: The service of passwords, values, and credentials.
  ///   - account: The account of a password, a value, or an internet password.
  ///   - accessGroup: The access group of a password or a value.
  ///   - credential: The label of a credential within its service.
  ///   - server: The server of an internet password.
  ///   - isValue: Whether the item is a value rather than a password.
  ///   - attributes: The parts of the key that have no option of their own, by attribute name.
  ///   - schema: The schema of the item.
  public init(
    service: String? = nil, account: String? = nil, accessGroup: String? = nil,
    credential: String? = nil, server: InternetServer? = nil, isValue: Bool = false,
    attributes: [String: String] = [:], schema: String? = nil
  ) {
    self.service = service
    self.account = account
    self.accessGroup = accessGroup
    self.credential = credential
    self.server = server
    self.isValue = isValue
    self.attributes = attributes
    self.schema = schema
  }

  /// Returns the key of the single item that is named.
  ///
  /// - Returns: The key.
  /// - Throws: ``Unclear`` if the selection doesn't name a single item.
  public func key() throws(Unclear) -> ItemKey {
    try check()
    if attributes.isEmpty { return try usualKey().with(schema: schema) }
    return ItemKey(kind: isValue ? .value : .password, attributes: partsOfService, schema: schema)
  }

  private func usualKey() throws(Unclear) -> ItemKey {
    if let server { return .internetPassword(server: server, account: account) }
    guard let service else { throw Unclear(message: "Specify a service or --server.") }
    if let credential { return .credentials(service: service, label: credential) }
    guard let account else { throw Unclear(message: "Specify an account or --credential.") }
    return isValue
      ? .value(service: service, account: account, accessGroup: accessGroup)
      : .password(service: service, account: account, accessGroup: accessGroup)
  }

  private var partsOfService: [String: String] {
    var parts = attributes
    parts["service"] = service ?? parts["service"]
    parts["username"] = account ?? parts["username"]
    parts["access-group"] = accessGroup ?? parts["access-group"]
    parts["label"] = credential ?? parts["label"]
    return parts
  }

  /// Returns a query for all items that match the named parts, or for all items if there are none.
  ///
  /// It doesn't select by schema.
  ///
  /// - Returns: The query.
  /// - Throws: ``Unclear`` if the selection contradicts itself.
  public func query() throws(Unclear) -> ItemQuery {
    try check()
    if let server {
      let key = ItemKey.internetPassword(server: server, account: account)
      return ItemQuery(kind: key.kind, attributes: key.attributes)
    }
    let kind: ItemKind? = isValue ? .value : credential == nil ? nil : .credentials
    return ItemQuery(kind: kind, attributes: partsOfService)
  }

  /// Returns a query for all items of a service or server, to remove or move them.
  ///
  /// - Parameter allPrograms: Whether to select other programs' own items, too.
  /// - Returns: The query.
  /// - Throws: ``Unclear`` if neither a service nor a server is named, or if a single item is.
  func queryForAll(ofAllPrograms allPrograms: Bool) throws(Unclear) -> ItemQuery {
    if account != nil || credential != nil || schema != nil {
      throw Unclear(message: "Specify either --all, or an account, --credential or --schema.")
    }
    if service == nil, server == nil, attributes.isEmpty {
      throw Unclear(message: "Specify a service, --server or --attribute.")
    }
    var query = try query()
    query.leavesForeignItems = !allPrograms
    return query
  }

  /// Returns `true` if a key has the named schema, or if none is named.
  public func hasSchema(of key: ItemKey) -> Bool {
    schema == nil || key.with(schema: schema) == key
  }

  /// Returns the single item that the selection names, or `nil` if there is none or several.
  func named(among items: [SecureItem]) -> SecureItem? {
    let same = items.filter(names)
    return Set(same.map(\.key)).count == 1 ? same[0] : nil
  }

  /// Returns `true` if this is the item that the selection names, although it may be under another key.
  ///
  /// An item may have empty parts, which nobody has to name, or a schema. An item that another program has for
  /// itself is only meant if all of it is named. Parts without an option of their own tell nothing of the kind.
  func names(_ item: SecureItem) -> Bool {
    guard let named = try? key(), item.key.kind == named.kind || !attributes.isEmpty && !isValue
    else { return false }
    let key = ItemKey(kind: item.key.kind, attributes: named.attributes, schema: named.schema)
    func parts(_ key: ItemKey) -> [String: String] { key.attributes.filter { !$0.value.isEmpty } }
    return key == item.key
      || !item.isForeign && hasSchema(of: item.key) && parts(key) == parts(item.key)
  }

  /// Throws an error if parts are named that no item has together, so that none of them is ignored.
  ///
  /// - Throws: ``Unclear`` with the names of the parts.
  public func check() throws(Unclear) {
    if service != nil, server != nil {
      throw Unclear(message: "Specify either a service or --server.")
    }
    if account != nil, credential != nil {
      throw Unclear(message: "Specify either an account or --credential.")
    }
    let isOfService = accessGroup != nil || isValue
    if server != nil, isOfService || credential != nil {
      throw Unclear(message: "Use --access-group, --credential and --value only with a service.")
    }
    if credential != nil, isOfService {
      throw Unclear(message: "Don't use --access-group or --value with --credential.")
    }
    if attributes.isEmpty { return }
    if server != nil || credential != nil {
      throw Unclear(message: "Don't use --attribute with --server or --credential.")
    }
    let named = ["service": service, "username": account, "access-group": accessGroup]
    if attributes.keys.contains(where: { (named[$0] ?? nil) != nil }) {
      throw Unclear(message: "Name each attribute only once.")
    }
    if attributes["xdg:schema"] != nil {
      throw Unclear(message: "Name the schema with --schema.")
    }
  }
}

extension ItemSelection {
  /// The advice for a password that git wouldn't find, or `nil` if it would, or if it isn't for a server.
  public var adviceForGit: String? {
    guard let server else { return nil }
    let missing = [
      server.protocol == nil ? "--protocol" : nil, account == nil ? "--account" : nil,
    ].compactMap(\.self)
    let extra = [
      server.securityDomain == nil ? nil : "--domain",
      server.authenticationType == nil ? nil : "--authentication",
    ].compactMap(\.self)
    let sentences = [
      missing.isEmpty
        ? nil : "Git finds passwords only with \(missing.joined(separator: " and ")).",
      extra.isEmpty
        ? nil : "Git finds passwords only without \(extra.joined(separator: " and ")).",
      server.path == nil
        ? nil : "Git finds passwords with --path only if credential.useHttpPath is set.",
    ].compactMap(\.self)
    return sentences.isEmpty ? nil : sentences.joined(separator: " ")
  }

  /// Returns the arguments that select an item, for a shell.
  static func arguments(for key: ItemKey) -> String {
    let names = KeyChanges.names[key.kind] ?? [:]
    let others = key.attributes.filter { !names.values.contains($0.key) }
    let hasOptions =
      others.isEmpty
      ? names.allSatisfy { !KeyChanges.isNeeded($0, by: key.kind) || key.attributes[$1] != nil }
      : key.kind == .password || key.kind == .value
    var rest = key.attributes
    var words: [String] = []
    for part in KeyChanges.Part.allCases where hasOptions {
      if let value = names[part].flatMap({ rest.removeValue(forKey: $0) }) {
        words.append("--\(part.rawValue) \(value.quotedForShell)")
      }
    }
    if rest.keys.contains(where: { $0.contains("=") }) { return key.description.printable }
    words += rest.sorted { $0.key < $1.key }
      .map { "--attribute \("\($0.key)=\($0.value)".quotedForShell)" }
    if let schema = key.schema { words.append("--schema \(schema.quotedForShell)") }
    if key.kind == .value { words.append("--value") }
    return words.joined(separator: " ")
  }
}

extension String {
  fileprivate var quotedForShell: String {
    let isPlain =
      !isEmpty && first != "="
      && allSatisfy { $0.isLetter || $0.isNumber || "._-/:@=".contains($0) }
    return isPlain ? self : "'\(printable.replacing("'", with: "'\\''"))'"
  }
}
