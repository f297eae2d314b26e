// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

@testable import KeyringSecretService

/// The attributes that providers add to items, which aren't the app's.
struct ProvidersAttributesTests {
  @Test(.inPrivateSession) func `the type of a secret is not an attribute of the item`() throws {
    let storage = SecretServiceStorage()
    let key = ItemKey.password(service: PrivateSession.newService(), account: "account")
    for secret in [Secret("text"), Secret(bytes: [0xFF, 0x00, 0xFE])] {
      try storage.save(
        SecureItem(key: key, secret: secret, attributes: ["color": "red"]), mode: .addOrReplace)
      let item = try storage.items(matching: .key(key, details: .all)).first
      #expect(item?.attributes == ["color": "red"])
      #expect(item?.secret == secret)
    }
    #expect(try storage.remove(key))
  }

  /// gnome-keyring stores the attribute like any other.
  @Test(.withOwnKeyring, arguments: [true, false])
  func `an attribute is hidden only where an app cannot store it`(isKnown: Bool) throws {
    let (bus, service) = try PrivateBus.with { try FakeService(on: $0) }
    if isKnown { try service.takeName("org.gnome.keyring") }
    let attributes = [
      "service": "service", "username": "account", "xdg:content-type": "text/plain",
    ]
    try openSession(at: bus.address)
      .createItem(attributes, label: "theirs", secret: "s3cret")
    let key = ItemKey.password(service: "service", account: "account")
    let item = try bus.storage().items(matching: .key(key, details: .all)).first
    #expect(item?.secret == Secret("s3cret"))
    #expect((item?.attributes?["xdg:content-type"] == nil) != isKnown)
    let new = SecureItem(
      key: .password(service: "service", account: "new"), secret: Secret("s3cret"),
      attributes: ["xdg:content-type": "image/png"])
    if isKnown {
      try bus.storage().save(new, mode: .add)
    } else {
      expectError(.invalidArgument, argument: "attributes") {
        try bus.storage().save(new, mode: .add)
      }
    }
  }

  /// ksecretd 6.30 creates an item of this type with another secret.
  @Test(.withOwnKeyring) func `an item is not replaced by one with another secret`() throws {
    let (bus, service) = try PrivateBus.with { try FakeService(on: $0) }
    try service.takeName("org.kde.ksecretd")
    let storage = bus.storage()
    let key = ItemKey.password(service: "service", account: "account")
    // Another program has set the attribute.
    try openSession(at: bus.address).createItem(
      key.ownAttributes.merging(["type": "map"]) { $1 }, label: "ours", secret: "s3cret")
    try storage.setPassword("new", for: key)
    let item = SecureItem(key: key, secret: Secret("newer"), attributes: ["color": "red"])
    expectError(.invalidArgument, argument: "attributes") {
      try storage.save(item, mode: .addOrReplace)
    }
    #expect(try storage.password(for: key) == "new")
  }
}
#endif
