// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

/// Passwords of servers, as git-credential-libsecret stores them.
///
/// The program is contrib/credential/libsecret of git 2.39.5. The tests use the attributes that it
/// was observed to write. They have no sanitizer, because they mostly wait for
/// other programs.
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
