// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

// The tests repeat one thing many times, which would take too long with a sanitizer.
@Suite(.inPrivateSession, .tags(.unsanitized)) struct ManyItemsTests {
  @Test(.tags(.slow)) func `more bytes than one message can carry are read and removed`() throws {
    // A single answer of 80 MiB would exceed the limit of the bus, and end the keyring.
    let storage = SecretServiceStorage(collection: Provider.current.fastestCollection)
    let service = PrivateSession.newService()
    let secret = Secret(bytes: [UInt8](repeating: 0x78, count: ItemLimits.secretBytes))
    for number in 0..<20 {
      let key = ItemKey.password(service: service, account: "\(number)")
      try storage.save(SecureItem(key: key, secret: secret), mode: .add)
    }
    let items = try storage.items(matching: .service(service, details: .secret))
    #expect(items.map(\.secret) == Array(repeating: secret, count: 20))
    #expect(try storage.removeItems(matching: .service(service)) == 20)
  }
}
#endif
