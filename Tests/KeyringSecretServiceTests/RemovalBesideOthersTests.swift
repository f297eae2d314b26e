// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

/// The documented effects of a removal on the items of other programs.
@Suite(.inPrivateSession) struct RemovalBesideOthersTests {
  let service = PrivateSession.newService()
  let storage = SecretServiceStorage()

  @Test func `an item of another program is read once ours is removed`() throws {
    let key = ItemKey.password(service: service, account: "token")
    try storage.setPassword("ours", for: key)
    try SecretTool.store(
      "theirs", label: "theirs", ["service": service, "username": "token", "extra": "theirs"])
    #expect(try storage.password(for: key) == "ours")
    #expect(try storage.remove(key))
    #expect(try storage.password(for: key) == "theirs")
    #expect(try storage.remove(key))
    #expect(try storage.password(for: key) == nil)
    #expect(try !storage.remove(key))
  }

  @Test func `removeAll also removes passwords and credentials of other programs`() throws {
    try storage.service(service).setPassword("ours", for: "ours")
    try SecretTool.store("password", label: "one", ["service": service, "username": "theirs"])
    try SecretTool.store("credential", label: "two", ["service": service, "label": "theirs"])
    try SecretTool.store("neither", label: "three", ["service": service, "other": "theirs"])
    #expect(try storage.service(service).removeAll() == 3)
    let left = try PythonSecretStorage.items(["service": service])
    #expect(left.map(\.withoutSchema.attributes) == [["service": service, "other": "theirs"]])
    try SecretTool.clear(["service": service, "other": "theirs"])
  }
}
#endif
