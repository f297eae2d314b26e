// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import KeyringStorage

/// The credentials that docker keeps with a helper.
///
/// See [docker's protocol](https://github.com/docker/docker-credential-helpers#development). The items of
/// docker-credential-secretservice are found, too. A credential replaces such an item with one that this helper finds.
/// It doesn't find other items of this package, because it searches by its own schema.
public struct DockerCredentials: Sendable {
  /// An operation that docker asks its helpers to perform, with docker's name for it.
  public enum Operation: String, Sendable, CaseIterable {
    /// Finds the credential of a registry.
    case get
    /// Stores a credential.
    case store
    /// Removes the credential of a registry.
    case erase
    /// Lists the registries with their users.
    case list
    /// Prints the name and the version of the helper.
    case version
  }

  /// A failure of an operation, with the text that docker expects on standard output.
  public struct Failure: Error, Sendable, Equatable {
    /// The text.
    public let message: String

    static let notFound = Failure(message: "credentials not found in native keychain")
    static let noServer = Failure(message: "no credentials server URL")
    static let noUser = Failure(message: "no credentials username")
    static let malformed = Failure(message: "the credentials are not JSON")
    static let notText = Failure(message: "the password is not text")
  }

  private static let name = "docker-credential-keyring"

  private let storage: any SecureStorage
  private let version: String

  /// Creates a view of a storage.
  ///
  /// - Parameters:
  ///   - storage: The storage of the credentials.
  ///   - version: The version of the helper.
  public init(_ storage: any SecureStorage, version: String = "") {
    self.storage = storage
    self.version = version
  }

  /// Performs an operation.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - input: The address of a registry, or a credential as JSON.
  /// - Returns: The reply, which is empty for some operations.
  /// - Throws: ``Failure``, or `SecureStorageError` if the storage can't perform the operation.
  public func reply(to operation: Operation, _ input: Secret) throws -> Secret {
    switch operation {
    case .get: return try Self.json(credential(of: server(input)))
    case .store: try store(input)
    case .erase: for item in try items(server(input)) { try storage.remove(item.key) }
    case .list: return try Self.json(users())
    case .version: return Secret("\(Self.name) \(version)\n")
    }
    return Secret("")
  }

  private struct Content: Codable {
    let server, user, secret: String

    enum CodingKeys: String, CodingKey {
      case server = "ServerURL"
      case user = "Username"
      case secret = "Secret"
    }
  }

  /// A decoder that ignores the case of names, as docker's own helpers do.
  private static var decoder: JSONDecoder {
    let names: [Content.CodingKeys] = [.server, .user, .secret]
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .custom { path in
      let name = path[path.count - 1].stringValue
      return names.first { $0.stringValue.lowercased() == name.lowercased() }
        ?? path[path.count - 1]
    }
    return decoder
  }

  private func credential(of server: String) throws -> Content {
    // The newest item comes first.
    guard let item = try items(server, details: .all).first, let secret = item.secret
    else { throw Failure.notFound }
    guard let text = secret.text else { throw Failure.notText }
    return Content(server: server, user: Self.user(of: item) ?? "", secret: text)
  }

  private func store(_ input: Secret) throws {
    guard let content = input.decoded(as: Content.self, by: Self.decoder) else {
      throw Failure.malformed
    }
    if content.server.isEmpty { throw Failure.noServer }
    if content.user.isEmpty { throw Failure.noUser }
    let old = try items(content.server)
    let isTheirs = old.first?.key.schema == Self.schema
    let key = isTheirs ? Self.theirKey(content.server, content.user) : Self.key(content.server)
    try storage.save(
      Self.item(key, server: content.server, user: content.user, Secret(content.secret)),
      mode: .addOrReplace)
    // The other helper has an item for each user of a registry.
    for item in old where item.key != key { try storage.remove(item.key) }
  }

  private func users() throws -> [String: String] {
    let pairs = try items().compactMap { item in
      item.key.attributes["server"].map { ($0, Self.user(of: item) ?? "") }
    }
    // The newest item comes first.
    return Dictionary(pairs) { newest, _ in newest }
  }

  private func server(_ input: Secret) throws -> String {
    let server = input.withUnsafeBytes { bytes -> String? in
      let whitespace = Array(" \t\r\n".utf8)
      let start = bytes.drop { whitespace.contains($0) }
      guard let end = start.lastIndex(where: { !whitespace.contains($0) }) else { return nil }
      return String(validating: start[...end], as: UTF8.self)
    }
    guard let server else { throw Failure.noServer }
    return server
  }

  private static func user(of item: SecureItem) -> String? {
    item.attributes?["username"] ?? item.key.attributes["username"]
  }

  /// The attribute that marks docker's items.
  private static let mark = ["docker_cli": "1"]

  static func key(_ server: String) -> ItemKey {
    ItemKey(
      kind: ItemKind(rawValue: "docker"), attributes: mark.merging(["server": server]) { $1 })
  }

  /// The schema of docker-credential-secretservice.
  private static let schema = "io.docker.Credentials"

  /// Returns the key of an item that docker-credential-secretservice finds.
  private static func theirKey(_ server: String, _ user: String) -> ItemKey {
    let parts = ["server": server, "username": user, "label": "Docker Credentials"]
    return ItemKey(
      kind: .password, attributes: mark.merging(parts) { $1 }, schema: schema)
  }

  /// Returns the item in which a credential is stored.
  static func item(_ key: ItemKey, server: String, user: String, _ secret: Secret) -> SecureItem {
    let scalars = server.unicodeScalars.map { $0 == "/" ? "-" : $0 }
    return SecureItem(
      key: key, secret: secret, label: "Docker: \(String(String.UnicodeScalarView(scalars)))",
      attributes: key.attributes["username"] == nil ? ["username": user] : nil)
  }

  /// Returns the items of a registry, or of all of them, newest first.
  ///
  /// Another program's item counts only if it's that of docker's own helper.
  private func items(
    _ server: String? = nil, details: ItemQuery.Details = .metadata
  ) throws -> [SecureItem] {
    let attributes = server.map { Self.key($0).attributes } ?? Self.mark
    return try storage.items(matching: ItemQuery(attributes: attributes, details: details))
      .filter { !$0.isForeign || $0.key.schema == Self.schema }
  }

  private static func json(_ value: some Encodable) throws -> Secret {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var data = try encoder.encode(value)
    defer { data.withUnsafeMutableBytes { $0.wipe() } }
    return Secret(joining: [Secret(bytes: data), Secret("\n")])
  }
}

extension Secret {
  /// Decodes JSON where it is.
  func decoded<Value: Decodable>(as type: Value.Type, by decoder: JSONDecoder) -> Value? {
    withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress.map(UnsafeMutableRawPointer.init(mutating:)) else {
        return nil
      }
      let data = Data(bytesNoCopy: start, count: bytes.count, deallocator: .none)
      // The decoder's error could quote the secret.
      return try? decoder.decode(type, from: data)
    }
  }
}
