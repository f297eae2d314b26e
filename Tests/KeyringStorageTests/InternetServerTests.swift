// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import TestPrograms
import Testing

@Suite struct InternetServerTests {
  @Test func `the parts have the names of the network schema`() {
    let server = InternetServer(
      "git.example.org", port: 8443, path: "/path", securityDomain: "realm", protocol: .https,
      authenticationType: .httpBasic)
    #expect(
      ItemKey.internetPassword(server: server, account: "me").attributes == [
        "server": "git.example.org", "port": "8443", "object": "/path", "domain": "realm",
        "protocol": "https", "authtype": "http-basic", "user": "me",
      ])
  }

  @Test func `an omitted part is not in the key`() {
    #expect(
      ItemKey.internetPassword(server: InternetServer("git.example.org")).attributes
        == ["server": "git.example.org"])
  }

  @Test func `any protocol and any authentication type is accepted`() {
    let server = InternetServer("host", protocol: "gopher", authenticationType: "retina")
    #expect(server.protocol == InternetServer.Scheme(rawValue: "gopher"))
    #expect(ItemKey.internetPassword(server: server).attributes["authtype"] == "retina")
  }

  @Test(arguments: [
    (ItemKey.internetPassword(server: InternetServer("")), "server"),
    (.internetPassword(server: InternetServer("host", path: "")), "path"),
    (.internetPassword(server: InternetServer("host", securityDomain: "")), "securityDomain"),
    (.internetPassword(server: InternetServer("host"), account: "nul\0"), "account"),
    (.internetPassword(server: InternetServer("https://host")), "server"),
    (.internetPassword(server: InternetServer("host/path")), "server"),
    (.internetPassword(server: InternetServer(" host")), "server"),
    (.internetPassword(server: InternetServer("host\n")), "server"),
    (.value(service: "service", account: ""), "account"),
    (.password(service: "service", account: "me", accessGroup: ""), "accessGroup"),
  ])
  func `the error names the refused argument`(key: ItemKey, argument: String) {
    expectError(.invalidArgument, argument: argument) {
      try InMemoryStorage().setPassword("s3cret", for: key)
    }
  }

  /// Docker's helper stores a URL as the server, and git's an empty user.
  @Test func `a key of another program's item can have any parts`() throws {
    let storage = InMemoryStorage()
    let key = ItemKey(
      kind: .internetPassword, attributes: ["server": "https://host/", "user": "", "object": ""])
    try storage.setPassword("s3cret", for: key)
    #expect(try storage.password(for: key) == "s3cret")
    #expect(try storage.remove(key))
  }
}
