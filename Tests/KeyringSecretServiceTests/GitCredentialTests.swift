// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

/// Passwords of servers, as git-credential-libsecret stores them.
///
/// The program is contrib/credential/libsecret of git 2.39.5. Most tests use the attributes that it
/// was observed to write, and ``SharedItemTests`` the schema that it has since 2.47. They have no sanitizer, because
/// they mostly wait for other programs.
@Suite(.inPrivateSession, .tags(.unsanitized)) struct GitCredentialTests {
  /// The program that writes the item in place of git.
  enum Writer: CaseIterable {
    case secretTool
    case pythonSecretStorage

    func store(_ secret: String, label: String, _ attributes: [String: String]) throws {
      switch self {
      case .secretTool: try SecretTool.store(secret, label: label, attributes)
      case .pythonSecretStorage:
        try PythonSecretStorage.create(Data(secret.utf8), label: label, attributes)
      }
    }
  }

  /// The parts that a URL has besides protocol, host and user.
  static let urls: [(port: UInt16?, path: String?)] = [
    (nil, nil), (8443, nil), (nil, "team/repo.git"), (8443, "team/repo.git"),
  ]

  let host = PrivateSession.newService()
  let storage = SecretServiceStorage()

  private func key(_ port: UInt16?, _ path: String?) -> ItemKey {
    .internetPassword(
      server: InternetServer(host, port: port, path: path, protocol: .https), account: "ada")
  }

  private func attributes(_ port: UInt16?, _ path: String?) -> [String: String] {
    var attributes = [
      "user": "ada", "protocol": "https", "server": host,
      "xdg:schema": "org.gnome.keyring.NetworkPassword",
    ]
    attributes["port"] = port.map { "\($0)" }
    attributes["object"] = path
    return attributes
  }

  private func label(_ port: UInt16?, _ path: String?) -> String {
    "Git: https://\(host)\(port.map { ":\($0)" } ?? "")/\(path ?? "")"
  }

  private func items() throws -> [PythonSecretStorage.Item] {
    try PythonSecretStorage.items(["server": host])
  }

  @Test(arguments: Writer.allCases, urls.indices)
  func `a password of git is read, changed in place and removed`(writer: Writer, url: Int) throws {
    let (port, path) = Self.urls[url]
    let key = key(port, path)
    try writer.store("theirs", label: label(port, path), attributes(port, path))
    #expect(try storage.password(for: key) == "theirs")
    #expect(
      try storage.items(matching: ItemQuery(kind: .internetPassword)).contains { $0.key == key })

    try storage.setPassword("ours", for: key)
    #expect(
      try items() == [
        .init(label: label(port, path), secret: "ours", attributes: attributes(port, path))
      ])
    #expect(try SecretTool.lookup(attributes(port, path)) == "ours")

    #expect(try storage.remove(key))
    #expect(try items().isEmpty)
  }

  @Test(arguments: Writer.allCases)
  func `a URL with more parts has a password of its own`(writer: Writer) throws {
    let more = [(8443, nil), (nil, "team/repo.git")] as [(UInt16?, String?)]
    for (port, path) in more {
      try writer.store("theirs", label: label(port, path), attributes(port, path))
    }
    let theirs = try items()
    let bare = key(nil, nil)
    #expect(try storage.password(for: bare) == nil)
    #expect(try !storage.remove(bare))
    try storage.setPassword("ours", for: bare)
    #expect(try storage.password(for: bare) == "ours")
    for (port, path) in more { #expect(try storage.password(for: key(port, path)) == "theirs") }
    #expect(try storage.remove(bare))
    #expect(try items() == theirs)
  }

  /// Stores by git over a password of ours, which git replaces up to 2.46.
  ///
  /// Since 2.47, its schema is another one, so it puts its own beside ours.
  @Test(
    .enabled(if: GitCredentialHelper.canBeUsed, "needs git's source, its libraries and a compiler"),
    arguments: urls.indices)
  func `git itself shares the password`(url: Int) throws {
    let (port, path) = Self.urls[url]
    let (key, git) = (key(port, path), try GitCredentialHelper())
    var description = ["protocol": "https", "username": "ada"]
    description["host"] = host + (port.map { ":\($0)" } ?? "")
    description["path"] = path
    func store(_ password: String) throws {
      try git.run("store", description.merging(["password": password]) { $1 })
    }
    try store("theirs")
    #expect(try storage.password(for: key) == "theirs")
    #expect(try storage.items(matching: .key(key)).map(\.isForeign) == [false])
    let stored = try items()
    try storage.setPassword("ours", for: key)
    #expect(try items().map(\.attributes) == stored.map(\.attributes))
    #expect(try git.run("get", description) == "ours")
    try git.run("erase", description)
    #expect(try storage.password(for: key) == nil)

    try storage.setPassword("ours", for: key)
    #expect(try git.run("get", description) == "ours")
    try store("theirs")
    #expect(try storage.password(for: key) == (try items().count == 1 ? "theirs" : "ours"))
    try storage.setPassword("ours again", for: key)
    #expect(try git.run("get", description) == "ours again")
    #expect(try storage.remove(key))
    #expect(try git.run("get", description) == nil)
    #expect(try items().isEmpty)
  }

  @Test(arguments: Writer.allCases, urls.indices)
  func `git finds, replaces and removes a password of ours`(writer: Writer, url: Int) throws {
    let (port, path) = Self.urls[url]
    let key = key(port, path)
    try storage.setPassword("ours", for: key)
    #expect(try SecretTool.lookup(attributes(port, path)) == "ours")

    // The item of git replaces ours. This is the subset trap.
    try writer.store("theirs", label: label(port, path), attributes(port, path))
    #expect(try items().map(\.text) == ["theirs"])
    #expect(try storage.password(for: key) == "theirs")

    try SecretTool.clear(attributes(port, path))
    #expect(try storage.password(for: key) == nil)
    #expect(try items().isEmpty)
  }
}
#endif
