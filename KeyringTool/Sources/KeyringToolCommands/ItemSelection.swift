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
  /// A Boolean value that indicates whether the item is a value rather than a password.
  public var isValue: Bool

  /// Creates a selection.
  ///
  /// - Parameters:
  ///   - service: The service of passwords, values, and credentials.
  ///   - account: The account of a password, a value, or an internet password.
  ///   - accessGroup: The access group of a password or a value.
  ///   - credential: The label of a credential within its service.
  ///   - server: The server of an internet password.
  ///   - isValue: A Boolean value that indicates whether the item is a value rather than a password.
  public init(
    service: String? = nil, account: String? = nil, accessGroup: String? = nil,
    credential: String? = nil, server: InternetServer? = nil, isValue: Bool = false
  ) {
    self.service = service
    self.account = account
    self.accessGroup = accessGroup
    self.credential = credential
    self.server = server
    self.isValue = isValue
  }

  /// Returns the key of the single item that is named.
  ///
  /// - Returns: The key.
  /// - Throws: ``Unclear`` if the selection doesn't name a single item.
  public func key() throws(Unclear) -> ItemKey {
    try check()
    if let server { return .internetPassword(server: server, account: account) }
    guard let service else { throw Unclear(message: "Specify a service or --server.") }
    if let credential { return .credentials(service: service, label: credential) }
    guard let account else { throw Unclear(message: "Specify an account or --credential.") }
    return isValue
      ? .value(service: service, account: account, accessGroup: accessGroup)
      : .password(service: service, account: account, accessGroup: accessGroup)
  }

  /// Returns a query for all items that match the named parts, or for all items if there are none.
  ///
  /// - Returns: The query.
  /// - Throws: ``Unclear`` if the selection contradicts itself.
  public func query() throws(Unclear) -> ItemQuery {
    try check()
    if let server {
      let key = ItemKey.internetPassword(server: server, account: account)
      return ItemQuery(kind: key.kind, attributes: key.attributes)
    }
    var attributes: [String: String] = [:]
    attributes["service"] = service
    attributes["username"] = account
    attributes["access-group"] = accessGroup
    attributes["label"] = credential
    let kind: ItemKind? = isValue ? .value : credential == nil ? nil : .credentials
    return ItemQuery(kind: kind, attributes: attributes)
  }

  /// Returns a query for the items that a command removes or moves.
  ///
  /// - Parameter all: A Boolean value that indicates whether to select all items of the service or server
  ///   instead of a single item.
  /// - Returns: The query.
  /// - Throws: ``Unclear`` if neither is named, or both are.
  public func query(all: Bool) throws(Unclear) -> ItemQuery {
    guard all else { return .key(try key()) }
    if account != nil || credential != nil {
      throw Unclear(message: "Specify either --all, or an account or --credential.")
    }
    if service == nil, server == nil { throw Unclear(message: "Specify a service or --server.") }
    return try query()
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
    let names = [
      "server": "--server", "port": "--port", "protocol": "--protocol", "object": "--path",
      "domain": "--domain", "authtype": "--authentication", "user": "--account",
      "service": "--service", "username": "--account", "access-group": "--access-group",
      "label": "--credential",
    ]
    let order = ["server", "service", "port", "protocol", "object", "domain", "authtype"]
    let parts = key.attributes.sorted {
      (order.firstIndex(of: $0.key) ?? order.count, $0.key)
        < (order.firstIndex(of: $1.key) ?? order.count, $1.key)
    }
    guard [.password, .value, .credentials, .internetPassword].contains(key.kind),
      parts.allSatisfy({ names[$0.key] != nil })
    else { return key.description.printable }
    return parts.map { "\(names[$0.key] ?? "") \($0.value.quotedForShell)" }
      .joined(separator: " ") + (key.kind == .value ? " --value" : "")
  }
}

extension String {
  fileprivate var quotedForShell: String {
    let isPlain = !isEmpty && allSatisfy { $0.isLetter || $0.isNumber || "._-/:@".contains($0) }
    return isPlain ? self : "'\(printable.replacing("'", with: "'\\''"))'"
  }
}
