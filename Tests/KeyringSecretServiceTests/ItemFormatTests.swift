// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

@testable import KeyringSecretService

/// The label, attributes and bytes of our items, as another program sees them.
@Suite(.inPrivateSession) struct ItemFormatTests {
  typealias Item = ForeignProgram.Item

  let service = PrivateSession.newService()
  let storage = SecretServiceStorage()

  let theirs: ForeignProgram

  init() throws { theirs = try ForeignProgram.inSession.get() }

  private func items() throws -> [Item] { try theirs.items(["service": service]) }

  @Test func `a password has the attributes of the design`() throws {
    try storage.setPassword("s3cret", for: .password(service: service, account: "token"))
    #expect(
      try items() == [
        Item(
          label: "\(service): token", secret: "s3cret",
          attributes: [
            "service": service, "username": "token",
            "swift-keyring:key": "password:service,username",
            "xdg:schema": "org.freedesktop.Secret.Generic",
          ])
      ])
  }

  @Test func `a credential has the attributes of the design`() throws {
    let credential = Credential(login: "ada", password: "pa55")
    try storage[.credentials(service: service, label: "account"), as: .credential].write(credential)
    #expect(
      try items() == [
        Item(
          label: "\(service): account", secret: "pa55",
          attributes: [
            "service": service, "label": "account", "username": "ada",
            "swift-keyring:key": "credentials:label,service",
            "xdg:schema": "org.freedesktop.Secret.Generic",
          ])
      ])
  }

  @Test func `an internet password has the attributes of the design`() throws {
    let server = InternetServer(
      service, port: 8443, path: "team/repo.git", securityDomain: "realm", protocol: .https,
      authenticationType: .httpBasic)
    try storage.setPassword("s3cret", for: .internetPassword(server: server, account: "ada"))
    let items = try theirs.items(["server": service])
    #expect(
      items.map(\.attributes) == [
        [
          "server": service, "port": "8443", "object": "team/repo.git", "domain": "realm",
          "protocol": "https", "authtype": "http-basic", "user": "ada",
          "swift-keyring:key":
            "internet-password:authtype,domain,object,port,protocol,server,user",
          "xdg:schema": "org.gnome.keyring.NetworkPassword",
        ]
      ])
    #expect(items.map(\.text) == ["s3cret"])
    // KWallet makes folders of slashes.
    #expect(items.first?.label.contains("/") == false)
  }

  // MARK: Values

  private struct Session: Codable, Equatable {
    var token = "s3cret"
    var scopes = ["read", "write"]
    var expires = 1_800_000_000
  }

  @Test func `a value is stored as JSON`() throws {
    try storage[.value(service: service, account: "session"), as: .value()].write(Session())
    let json = try JSONSerialization.jsonObject(with: try #require(items().first).secret)
    let object = try #require(json as? [String: Any])
    #expect(Set(object.keys) == ["token", "scopes", "expires"])
    #expect(object["token"] as? String == "s3cret")
    #expect(object["scopes"] as? [String] == ["read", "write"])
    #expect(object["expires"] as? Int == 1_800_000_000)
  }

  @Test func `bytes of another program are read`() throws {
    let bytes: [UInt8] = [0xFF, 0x00, 0x80, 0x0A]
    try theirs.create(bytes: bytes, ["service": service, "username": "bytes"])
    let key = ItemKey.value(service: service, account: "bytes")
    #expect(try storage[key, as: .value([UInt8].self)].read() == bytes)
    // As a password, the item is unreadable, not absent.
    expectError(.undecodable) {
      try storage.password(for: .password(service: service, account: "bytes"))
    }
  }

  @Test func `JSON of another program is read and changed in place`() throws {
    try SecretTool.store(
      #"{ "expires": 1, "token": "theirs", "scopes": [], "more": null }"#, label: "Theirs",
      ["service": service, "username": "session"])
    let key = ItemKey.value(service: service, account: "session")
    let theirs = Session(token: "theirs", scopes: [], expires: 1)
    #expect(try storage[key, as: .value(Session.self)].read() == theirs)
    try storage[key, as: .value()].write(Session())
    #expect(try items().map(\.label) == ["Theirs"])
    #expect(try storage[key, as: .value(Session.self)].read() == Session())
  }

  /// Changes an item of ours as another program does, just after we have written it.
  @Test(.only(on: .gnomeKeyring, "only there such a write looks at nothing first"))
  func `a new value leaves the label and the attributes alone`() throws {
    let key = ItemKey.password(service: service, account: "account")
    try storage.setPassword("1", for: key)
    let session = try openSession()
    let search = MethodCall.searchItems(
      in: .collection(aliased: "default"), ["service": service, "username": "account"])
    let path = try #require(session.ask(search).child(0).paths.first)
    let item = try #require(
      StoredItem(
        path: path, answer: session.ask(.properties(of: path)), from: session.provider))
    let attributes = item.attributes.merging(["note": "theirs"]) { $1 }
    try session.ask(.setLabel("theirs", of: path))
    try session.ask(.setAttributes(attributes, of: path))
    try storage.setPassword("2", for: key)
    let found = try #require(try storage.item(for: key))
    #expect(found.secret == Secret("2") && found.label == "theirs")
    #expect(found.attributes == ["note": "theirs"])
    try storage.remove(key)
    // An item that is gone is made again.
    try storage.setPassword("1", for: key)
    let again = try #require(session.ask(search).child(0).paths.first)
    try session.ask(.delete(again))
    try storage.setPassword("2", for: key)
    #expect(try storage.password(for: key) == "2")
    try storage.remove(key)
  }

  @Test(arguments: [
    (Secret("text"), "text/plain"), (Secret("hällo\n"), "text/plain"), (Secret(""), "text/plain"),
    (Secret("NUL\0"), "application/octet-stream"),
    (Secret("\u{FEFF}text"), "application/octet-stream"),
    (Secret(bytes: [0x66, 0xFF]), "application/octet-stream"),
  ])
  func `text is marked as text unless it has a NUL or a byte order mark`(
    secret: Secret, type: String
  ) throws {
    // gnome-keyring 42.1 doesn't keep it, and reports text/plain to every program.
    let sent = try #require(openSession().encode(secret))
    #expect(sent.child(3).text == type)
  }
}
#endif
