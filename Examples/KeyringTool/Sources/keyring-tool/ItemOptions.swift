import ArgumentParser
import Keyring

/// Which item, or which items.
struct ItemOptions: ParsableArguments {
  @Option(help: "The service that the item belongs to.")
  var service: String?

  @Option(help: "The account of a password or a value.")
  var account: String?

  @Option(help: "The access group of a password or a value.")
  var accessGroup: String?

  @Option(help: "The label of a credential within its service.")
  var credential: String?

  @Option(help: "The server of an internet password.")
  var server: String?

  @Option(help: "The port of the server.")
  var port: UInt16?

  @Option(help: "The protocol: the scheme of the server's URLs.")
  var `protocol`: String?

  @Option(help: "The path on the server.")
  var path: String?

  @Flag(help: "A value rather than a password.")
  var value = false

  func validate() throws {
    if service != nil, server != nil {
      throw ValidationError("Give a service or a server, not both.")
    }
    if account != nil, credential != nil {
      throw ValidationError("Give an account or a credential, not both.")
    }
  }

  /// The key of the one item that the options name.
  func key() throws -> ItemKey {
    if server != nil { return .internetPassword(server: try internetServer(), account: account) }
    guard let service else { throw ValidationError("Give --service or --server.") }
    if let credential { return .credentials(service: service, label: credential) }
    guard let account else { throw ValidationError("Give --account or --credential.") }
    return value
      ? .value(service: service, account: account, accessGroup: accessGroup)
      : .password(service: service, account: account, accessGroup: accessGroup)
  }

  /// The items that the options name: all that agree with what is given.
  func query() throws -> ItemQuery {
    if account != nil || credential != nil { return .key(try key()) }
    if server != nil {
      return ItemQuery(
        kind: .internetPassword,
        attributes: ItemKey.internetPassword(server: try internetServer()).attributes)
    }
    guard let service else { return ItemQuery() }
    var attributes = ["service": service]
    attributes["access-group"] = accessGroup
    return ItemQuery(attributes: attributes)
  }

  private func internetServer() throws -> InternetServer {
    guard let server else { throw ValidationError("Give --server.") }
    return InternetServer(
      server, port: port, path: path,
      protocol: `protocol`.map { InternetProtocol(rawValue: $0) })
  }
}
