// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringToolCommands
import Testing

@Suite struct SecretReferenceTests {
  private static let server = InternetServer("h", port: 8443, path: "/p", protocol: "https")

  @Test(arguments: [
    ("s/a", ItemKey.password(service: "s", account: "a")),
    ("org.example/me@example.org", .password(service: "org.example", account: "me@example.org")),
    ("a%2Fb/c%3Fd%26%25", .password(service: "a/b", account: "c?d&%")),
    ("%C3%A9/\u{1F511}", .password(service: "\u{E9}", account: "\u{1F511}")),
    ("s?account=a+b", .password(service: "s", account: "a+b")),
    ("s/a?access-group=g", .password(service: "s", account: "a", accessGroup: "g")),
    ("s/a?value", .value(service: "s", account: "a")),
    ("s?credential=l%20m", .credentials(service: "s", label: "l m")),
    (
      "?server=h&port=8443&protocol=https&path=%2Fp&account=a",
      .internetPassword(server: server, account: "a")
    ),
    ("/a?server=h", .internetPassword(server: InternetServer("h"), account: "a")),
  ])
  func `a reference names an item`(text: String, key: ItemKey) throws {
    let reference = try SecretReference("keyring://" + text)
    #expect(reference.key == key && !reference.isLogin && reference.collection == nil)
  }

  @Test func `a reference can name a login and a collection`() throws {
    let reference = try SecretReference("keyring://s?credential=l&login&collection=my%20keys")
    #expect(reference.isLogin && reference.collection == "my keys")
  }

  @Test(arguments: [
    "", "s", "/a", "s/a/b", "s/a#b", "s/%4", "s/%zz", "s/%FF", "s/%00", "s/a?x=y",
    "s/a?value=1",
    "s/a?account=b", "s/a?login", "s/a?credential=l", "s?credential=",
    "s?credential=l&credential=l",
    "s/a?server=h", "s/a?port=1", "?server=h&port=x", "s/a?value&value", "s/a?collection=",
  ])
  func `a malformed reference is refused`(text: String) {
    #expect(throws: ItemSelection.Unclear.self) { try SecretReference("keyring://" + text) }
  }
}
