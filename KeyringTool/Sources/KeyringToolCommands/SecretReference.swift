// SPDX-License-Identifier: Apache-2.0

internal import Keyring
public import KeyringStorage

/// A reference to a secret in a text, such as `keyring://org.example.server/authToken`.
///
/// Each part is percent-encoded. The parameters after `?` have the names of the options that select an item.
public struct SecretReference: Sendable, Equatable {
  /// The beginning of each reference.
  public static let scheme = "keyring://"

  /// The key of the item.
  public let key: ItemKey
  /// The label of the collection, or `nil` for the storage that the command uses.
  public let collection: String?
  /// Whether the login of a credential is meant instead of its password.
  public let isLogin: Bool

  /// Parses a reference.
  ///
  /// - Parameter text: The text, which begins with ``scheme``.
  /// - Throws: ``ItemSelection/Unclear``, which says what is wrong, but doesn't repeat the text.
  public init(_ text: String) throws(ItemSelection.Unclear) {
    let rest = text.dropFirst(Self.scheme.count)
    guard text.hasPrefix(Self.scheme), !rest.contains("#") else {
      throw ItemSelection.Unclear(message: "Write a \"#\" as %23.")
    }
    let halves = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let parts = halves[0].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2 else {
      throw ItemSelection.Unclear(
        message: "Name a service and an account, and write a \"/\" in them as %2F.")
    }
    var parameters = try Self.parameters(halves.count == 2 ? halves[1] : "")
    let service = try Self.decoded(parts[0])
    if !service.isEmpty, parameters.updateValue(service, forKey: "service") != nil {
      throw ItemSelection.Unclear(message: "Name the service only once.")
    }
    if parts.count == 2, !parts[1].isEmpty,
      parameters.updateValue(try Self.decoded(parts[1]), forKey: "account") != nil
    {
      throw ItemSelection.Unclear(message: "Name the account only once.")
    }
    isLogin = parameters["login"] != nil
    collection = parameters["collection"]
    if isLogin, parameters["credential"] == nil {
      throw ItemSelection.Unclear(message: "Use \"login\" with \"credential\".")
    }
    key = try Self.selection(parameters).key()
  }

  private static func selection(
    _ parameters: [String: String]
  ) throws(ItemSelection.Unclear) -> ItemSelection {
    let ofServers = ["port", "protocol", "path", "domain", "authentication"]
    if parameters["server"] == nil, ofServers.contains(where: { parameters[$0] != nil }) {
      throw ItemSelection.Unclear(
        message: "Use \(ofServers.joined(separator: ", ")) only with a server.")
    }
    let port = parameters["port"].map { UInt16($0) }
    if case .some(nil) = port {
      throw ItemSelection.Unclear(message: "The port isn't a number.")
    }
    return ItemSelection(
      service: parameters["service"], account: parameters["account"],
      accessGroup: parameters["access-group"], credential: parameters["credential"],
      server: parameters["server"].map { host in
        InternetServer(
          host, port: port ?? nil, path: parameters["path"],
          securityDomain: parameters["domain"],
          protocol: parameters["protocol"].map { InternetServer.Scheme(rawValue: $0) },
          authenticationType: parameters["authentication"].map {
            InternetServer.AuthenticationType(rawValue: $0)
          })
      },
      isValue: parameters["value"] != nil)
  }

  private static func parameters(
    _ text: Substring
  ) throws(ItemSelection.Unclear) -> [String: String] {
    var parameters: [String: String] = [:]
    for parameter in text.split(separator: "&", omittingEmptySubsequences: false)
    where !text.isEmpty {
      let pair = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(pair[0])
      guard let isFlag = isFlag[name], isFlag == (pair.count == 1) else {
        let known = isFlag.keys.sorted().joined(separator: ", ")
        throw ItemSelection.Unclear(
          message: "Use these parameters, with values except for login and value: \(known).")
      }
      let value = pair.count == 2 ? try decoded(pair[1]) : ""
      guard isFlag || !value.isEmpty, parameters.updateValue(value, forKey: name) == nil else {
        throw ItemSelection.Unclear(message: "Name \(name) only once, with a value.")
      }
    }
    return parameters
  }

  /// The names of all parameters, and whether they have no value.
  private static let isFlag = [
    "access-group": false, "account": false, "authentication": false, "collection": false,
    "credential": false, "domain": false, "login": true, "path": false, "port": false,
    "protocol": false, "server": false, "value": true,
  ]

  /// Replaces `%` and two hexadecimal digits with the byte that they represent, as in RFC 3986.
  private static func decoded(_ text: Substring) throws(ItemSelection.Unclear) -> String {
    if text.contains(#/%(?![0-9A-Fa-f]{2})/#) {
      throw ItemSelection.Unclear(message: "Write a \"%\" as %25.")
    }
    let bytes = PercentDecoded(Array(text.utf8))
    guard !text.contains("%00"), let decoded = String(validating: bytes, as: UTF8.self) else {
      throw ItemSelection.Unclear(message: "Percent-encode UTF-8 without NUL.")
    }
    return decoded
  }
}
