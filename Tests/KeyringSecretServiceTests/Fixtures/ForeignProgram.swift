// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

/// Another program with items of its own: `Tests/Fixtures/foreign-items.py`.
final class ForeignProgram: Sendable {
  /// One item, as this program sees it.
  struct Item: Equatable {
    var label: String
    var secret: Data
    var attributes: [String: String]

    init(label: String, secret: String, attributes: [String: String]) {
      (self.label, self.secret, self.attributes) = (label, Data(secret.utf8), attributes)
    }

    var text: String { String(decoding: secret, as: UTF8.self) }
  }

  /// The program in the private session, which runs as long as the tests, because it takes longer to start than to make
  /// a hundred items.
  static let inSession = Result {
    try ForeignProgram(
      collection: Provider.current.defaultCollection, provider: Provider.current.rawValue)
  }

  /// The schema of a program in C, or none, as `secret-tool` has it.
  struct Schema: Sendable, Hashable {
    let name: String?
    /// Whether the program finds only items of this schema.
    var matchesName = true

    static let none = Schema(name: nil)
    static let network = Schema(name: "org.gnome.keyring.NetworkPassword")
  }

  /// A refusal of the keyring.
  struct Refusal: Error, CustomStringConvertible { let description: String }

  private struct Request: Encodable {
    let action: String
    var attributes: [String: String] = [:]
    var schema: String?
    var matchesName = false
    var label = ""
    var secret = Data()
    var type = "text/plain"
    var replaces = false
    var path = ""

    init(_ action: String) { self.action = action }

    init(_ action: String, _ attributes: [String: String], _ schema: Schema) {
      (self.action, self.attributes) = (action, attributes)
      (self.schema, matchesName) = (schema.name, schema.matchesName)
    }
  }

  private struct PlacedItem: Decodable {
    let path: String
    let label: String
    let attributes: [String: String]
    let secret: Data
  }

  private struct Answer: Decodable {
    var items: [PlacedItem]?
    var isDone: Bool?
    var error: String?
  }

  private let program: Program

  /// Starts the program.
  ///
  /// - Parameters:
  ///   - bus: The bus of the keyring, or `nil` for the private session.
  ///   - collection: The last part of the path of the collection with the items.
  ///   - provider: The name of the provider.
  /// - Throws: An error if the program doesn't start.
  init(on bus: PrivateBus? = nil, collection: String, provider: String) throws {
    program = try .script(
      "foreign-items.py", [collection, provider], environment: bus?.environment ?? [:])
  }

  private func perform(_ request: Request) throws -> Answer {
    try program.writeLine(
      String(decoding: try JSONEncoder().encode(request), as: UTF8.self))
    let answer = try JSONDecoder().decode(Answer.self, from: Data(program.readLine().utf8))
    if let error = answer.error { throw Refusal(description: error) }
    return answer
  }

  // MARK: As C code

  /// Stores an item by libsecret's call, in the place of one that the keyring takes for the same item.
  func store(
    _ secret: String, label: String = "Theirs", _ attributes: [String: String], _ schema: Schema
  ) throws {
    var request = Request("store", attributes, schema)
    (request.label, request.secret) = (label, Data(secret.utf8))
    try #require(try perform(request).isDone == true)
  }

  /// Looks up a secret by libsecret's call.
  func lookup(_ attributes: [String: String], _ schema: Schema) throws -> String? {
    try secrets(Request("lookup", attributes, schema)).first
  }

  /// Finds the secrets of all items by libsecret's call.
  func search(_ attributes: [String: String], _ schema: Schema) throws -> [String] {
    try secrets(Request("search", attributes, schema))
  }

  private func secrets(_ request: Request) throws -> [String] {
    try perform(request).items?.map { String(decoding: $0.secret, as: UTF8.self) } ?? []
  }

  /// Removes all items that match by libsecret's call.
  func clear(_ attributes: [String: String], _ schema: Schema) throws {
    _ = try perform(Request("clear", attributes, schema))
  }

  // MARK: As SecretStorage

  /// Stores an item, by default beside all others.
  ///
  /// - Returns: The path of the item.
  @discardableResult
  func create(
    _ secret: String = "", bytes: [UInt8]? = nil, label: String = "Theirs",
    _ attributes: [String: String], replacing: Bool = false
  ) throws -> String {
    var request = Request("create")
    (request.label, request.secret) = (label, Data(bytes ?? Array(secret.utf8)))
    if bytes != nil { request.type = "application/octet-stream" }
    (request.attributes, request.replaces) = (attributes, replacing)
    return try #require(try perform(request).items?.first?.path)
  }

  /// Finds the items with these attributes, in the order of their paths.
  func items(_ attributes: [String: String]) throws -> [Item] {
    try itemsByPath(attributes).sorted { $0.key < $1.key }.map(\.value)
  }

  /// Finds the items with these attributes.
  ///
  /// They don't show the attributes that the keyring adds. No schema is the generic one: gnome-keyring 42.1 to 51.1 show
  /// the one or the other, as they have read their file.
  func itemsByPath(_ attributes: [String: String] = [:]) throws -> [String: Item] {
    var request = Request("items")
    request.attributes = attributes
    let added = Provider.current.addedAttributes
    return Dictionary(
      uniqueKeysWithValues: (try perform(request).items ?? []).map { found in
        var attributes = found.attributes.filter { !added.contains($0.key) }
        attributes["xdg:schema"] = attributes["xdg:schema"] ?? "org.freedesktop.Secret.Generic"
        let text = String(decoding: found.secret, as: UTF8.self)
        return (found.path, Item(label: found.label, secret: text, attributes: attributes))
      })
  }

  func setAttributes(_ attributes: [String: String], of path: String) throws {
    var request = Request("set-attributes")
    (request.attributes, request.path) = (attributes, path)
    _ = try perform(request)
  }

  func setSecret(_ secret: String, of path: String) throws {
    var request = Request("set-secret")
    (request.secret, request.path) = (Data(secret.utf8), path)
    _ = try perform(request)
  }

  func delete(_ path: String) throws {
    var request = Request("delete")
    request.path = path
    _ = try perform(request)
  }

  /// Removes all items with these attributes.
  func deleteAll(_ attributes: [String: String]) throws {
    for path in try itemsByPath(attributes).keys { try delete(path) }
  }
}
#endif
