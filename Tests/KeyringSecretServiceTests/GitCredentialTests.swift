// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

/// Passwords of servers, as the installed git-credential-libsecret stores them.
///
/// ``SharedItemTests`` and ``SchemaTests`` have the items of each of its versions. This test has no sanitizer, because
/// it mostly waits for other programs.
@Suite(.inPrivateSession, .tags(.unsanitized)) struct GitCredentialTests {
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

  private func items() throws -> [ForeignProgram.Item] {
    try ForeignProgram.inSession.get().items(["server": host])
  }

  /// Stores by git over a password of ours, which git replaces up to 2.46.
  ///
  /// Since 2.47, its schema is another one, so it puts its own beside ours.
  @Test(
    .tags(.slow),
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
}
#endif
