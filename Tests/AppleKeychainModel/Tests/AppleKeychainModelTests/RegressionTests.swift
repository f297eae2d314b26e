// SPDX-License-Identifier: Apache-2.0

import AppleKeychainModel
import CoreFoundation
import Security
import Testing

/// Apple's regressions si-05, si-10, si-11, si-43, si-72, si-78 and si-80, told again.
@Suite(.freshDevice) struct RegressionTests {
  static let places: [Place] = [.dataProtection, .file]

  @Test("si-05: adding, and what adding returns (there with a certificate)")
  func si05() throws {
    let place = Place.dataProtection
    let key: Place.Pairs = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a"]
    func again(_ wanted: CFString...) -> (status: OSStatus, value: Value?) {
      #expect([errSecSuccess, errSecItemNotFound].contains(place.delete(key)))
      let flags = [kSecReturnData, kSecReturnAttributes, kSecReturnPersistentRef].map { flag in
        wanted.contains { CFEqual($0, flag) }
      }
      return place.added([
        kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a",
        kSecValueData: [1, 2] as [UInt8], kSecReturnData: flags[0],
        kSecReturnAttributes: flags[1], kSecReturnPersistentRef: flags[2],
      ])
    }
    #expect(again() == (errSecSuccess, nil))
    #expect(place.add(key) == errSecDuplicateItem)
    #expect(again(kSecReturnData) == (errSecSuccess, .data([1, 2])))
    let reference = try #require(again(kSecReturnPersistentRef).value)
    let byReference = Place.either.copy([kSecValuePersistentRef: reference, kSecReturnData: true])
    #expect(byReference == (errSecSuccess, .data([1, 2])))
    let attributes = try #require(again(kSecReturnAttributes).value)
    #expect(attributes[kSecAttrAccount] == .text("a"))
    #expect(attributes[kSecValueData] == nil && attributes[kSecValuePersistentRef] == nil)
    let all = again(kSecReturnData, kSecReturnAttributes, kSecReturnPersistentRef).value
    #expect(all?[kSecValueData] == .data([1, 2]) && all?[kSecValuePersistentRef] != nil)
    #expect(place.delete(key) == errSecSuccess)
    // Case 7: an attribute that the class doesn't have; case 8: a synchronizable item.
    let bogus: Place.Pairs = [
      kSecClass: kSecClassGenericPassword, kSecAttrApplicationTag: [1] as [UInt8],
    ]
    #expect(place.add(bogus) == errSecNoSuchAttr && place.delete(bogus) == errSecNoSuchAttr)
    let shared: Place.Pairs = [
      kSecClass: kSecClassGenericPassword, kSecAttrSynchronizable: true,
    ]
    #expect(place.add(shared) == errSecSuccess && place.delete(shared) == errSecSuccess)
  }

  @Test("si-10: an internet password's life", arguments: places)
  func si10(place: Place) throws {
    func with(_ key: CFString, _ value: Any) -> Place.Pairs {
      [
        kSecClass: kSecClassInternetPassword, kSecAttrServer: "members.spamcop.net",
        kSecAttrAccount: "smith", kSecAttrPort: 80, kSecAttrProtocol: kSecAttrProtocolHTTP,
        kSecAttrAuthenticationType: kSecAttrAuthenticationTypeDefault,
        key: value,
      ]
    }
    let item = with(kSecValueData, [4, 2] as [UInt8])
    let query = with(kSecReturnAttributes, true)
    #expect(place.add(item) == errSecSuccess && place.add(item) == errSecDuplicateItem)
    let found = try #require(place.copy(query).value)
    #expect(found[kSecAttrServer] == .text("members.spamcop.net"))
    #expect(found[kSecAttrPort] == .number(80))
    #expect(place.copy(with(kSecReturnData, true)) == (errSecSuccess, .data([4, 2])))
    let change: Place.Pairs = [kSecAttrServer: "www.spamcop.net"]
    #expect(place.update(query, change) == errSecSuccess)
    #expect(place.update(query, change) == errSecItemNotFound)
    #expect(place.delete(query) == errSecItemNotFound)
    #expect(place.add(item) == errSecSuccess && place.delete(query) == errSecSuccess)
    #expect(place.add(item) == errSecSuccess)
    #expect(place.update(query, change) == errSecDuplicateItem)
    #expect(place.delete(query) == errSecSuccess)
    let changed: Place.Pairs = [
      kSecAttrServer: "www.spamcop.net", kSecClass: kSecClassInternetPassword,
    ]
    #expect(place.delete(changed) == errSecSuccess)
    #expect(KeychainModel.current.rows.isEmpty)
  }

  @Test("si-10: what was returned is a query that finds it again")
  func returnedAttributesAreAQuery() throws {
    let place = Place.dataProtection
    let item: Place.Pairs = [kSecClass: kSecClassInternetPassword, kSecAttrServer: "s"]
    #expect(place.add(item) == errSecSuccess)
    let query: Place.Pairs = [kSecClass: kSecClassInternetPassword, kSecReturnAttributes: true]
    guard case .dictionary(var pairs) = try #require(place.copy(query).value) else {
      Issue.record("not a dictionary")
      return
    }
    pairs["class"] = .text("inet")
    pairs["nleg"] = .boolean(true)
    // Except for the date of the last change, which macOS takes out of a query.
    pairs["mdat"] = .date(0)
    let object = Unmanaged.passRetained(Value.dictionary(pairs).object).toOpaque()
    let dictionary = Unmanaged<CFDictionary>.fromOpaque(object).takeRetainedValue()
    #expect(SecItemCopyMatching(dictionary, nil) == errSecSuccess)
  }

  @Test("si-11: changing data, and data that isn't data", arguments: places)
  func si11(place: Place) {
    let query: Place.Pairs = [
      kSecClass: kSecClassGenericPassword, kSecAttrAccount: "dankeen", kSecAttrService: "iTools",
    ]
    #expect(place.add(query) == errSecSuccess && place.copy(query).status == errSecSuccess)
    #expect(place.update(query, [kSecValueData: [1] as [UInt8]]) == errSecSuccess)
    #expect(place.update(query, [kSecValueData: Value.unsupported]) == errSecParam)
    #expect(place.update(query, [kSecValueData: "bogus"]) == errSecParam)
    #expect(place.delete(query) == errSecSuccess)
  }

  @Test("si-43: persistent references")
  func si43() throws {
    let place = Place.dataProtection
    func reference(_ account: String) throws -> Value {
      try #require(
        place.added([
          kSecClass: kSecClassInternetPassword, kSecAttrServer: "zuigt.nl",
          kSecAttrAccount: account, kSecReturnPersistentRef: true,
        ]).value)
    }
    func server(_ reference: Value) -> Value? {
      place.copy([kSecValuePersistentRef: reference, kSecReturnAttributes: true]).value?[
        kSecAttrServer]
    }
    let (first, second) = (try reference("frtnbf"), try reference("johndoe"))
    let query: Place.Pairs = [kSecValuePersistentRef: first]
    #expect(place.update(query, [kSecAttrServer: "zuigt.com"]) == errSecSuccess)
    let both: Place.Pairs = [kSecValuePersistentRef: first, kSecAttrAccount: "frtnbf"]
    #expect(place.copy(both).status == errSecParam)
    #expect(server(first) == .text("zuigt.com") && server(second) == .text("zuigt.nl"))
    #expect(place.delete(query) == errSecSuccess)
    #expect(place.copy(query).status == errSecItemNotFound && server(second) != nil)
    #expect(place.delete([kSecValuePersistentRef: second]) == errSecSuccess)
  }

  @Test("si-72: a synchronizable item needs no flag, and is seen when asked for")
  func si72() {
    func query(_ value: Any) -> Place.Pairs {
      [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", kSecAttrSynchronizable: value]
    }
    #expect(Place.either.add(query(true)) == errSecSuccess)
    #expect(Place.either.copy(query(true)).status == errSecSuccess)
    #expect(Place.either.copy(query(kSecAttrSynchronizableAny)).status == errSecSuccess)
    let local: Place.Pairs = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a"]
    #expect(Place.dataProtection.copy(local).status == errSecItemNotFound)
    #expect(Place.dataProtection.add(local) == errSecSuccess)
    #expect(Place.either.update(query(true), [kSecAttrComment: "Updated"]) == errSecSuccess)
    #expect(Place.dataProtection.delete(query(true)) == errSecSuccess)
    #expect(Place.dataProtection.copy(local).status == errSecSuccess)
  }

  @Test("si-78, si-80: all items with data, and an item without any")
  func si78And80() throws {
    let place = Place.dataProtection
    func all(_ service: String, _ flags: [CFString]) throws -> [Value] {
      let wanted = flags + [kSecReturnData]
      return try #require(
        place.copy([
          kSecClass: kSecClassGenericPassword, kSecAttrService: service,
          kSecMatchLimit: kSecMatchLimitAll, wanted[0]: true, kSecReturnData: true,
        ]).value?.elements)
    }
    let full: Place.Pairs = [
      kSecClass: kSecClassGenericPassword, kSecAttrService: "full", kSecValueData: [7] as [UInt8],
    ]
    #expect(place.add(full) == errSecSuccess)
    let row = try #require(try all("full", [kSecReturnPersistentRef]).first)
    #expect(row[kSecValueData] == .data([7]) && row[kSecValuePersistentRef] != nil)
    #expect(try all("full", []) == [.data([7])])
    let empty: Place.Pairs = [kSecClass: kSecClassGenericPassword, kSecAttrService: "empty"]
    #expect(place.add(empty) == errSecSuccess)
    let rows = try all("empty", [kSecReturnAttributes])
    #expect(rows.count == 1 && rows[0][kSecValueData] == nil)
    #expect(rows[0][kSecAttrService] == .text("empty"))
    // SecItemResultCopyPrepared: asked for its data alone, it succeeds with no result.
    let data: Place.Pairs = [
      kSecClass: kSecClassGenericPassword, kSecAttrService: "empty", kSecReturnData: true,
    ]
    #expect(place.copy(data) == (errSecSuccess, nil))
    #expect(try all("empty", []) == [])
  }
}
