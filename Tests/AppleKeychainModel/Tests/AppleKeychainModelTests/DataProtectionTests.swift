// SPDX-License-Identifier: Apache-2.0

import AppleKeychainModel
import CoreFoundation
import Security
import Testing

/// KeychainAPITests and KeychainCryptoTests of Apple, told again, and rules read in the source.
@Suite(.freshDevice) struct DataProtectionTests {
  let place = Place.dataProtection
  let key: Place.Pairs = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a"]

  private func with(_ name: CFString, _ value: Any, account: String = "a") -> Place.Pairs {
    [kSecClass: kSecClassGenericPassword, kSecAttrAccount: account, name: value]
  }

  @Test("testReturnValuesInSecItemUpdate, and limits: ignored on macOS, refused on iOS")
  func returnKeys() {
    #expect(place.add(key) == errSecSuccess)
    let flags: [CFString] = [
      kSecReturnAttributes, kSecReturnData, kSecReturnRef, kSecReturnPersistentRef,
    ]
    let phone = Caller(platform: .iOS)
    for flag in flags {
      #expect(place.update(with(flag, true), [kSecAttrComment: "c"]) == errSecSuccess)
      KeychainModel.$caller.withValue(phone) {
        #expect(place.update(with(flag, true), [kSecAttrComment: "c"]) == errSecParam)
      }
    }
    KeychainModel.$caller.withValue(phone) {
      #expect(place.delete(with(kSecMatchLimit, kSecMatchLimitAll)) == errSecParam)
    }
    #expect(place.delete(with(kSecMatchLimit, kSecMatchLimitOne)) == errSecSuccess)
  }

  @Test("testBadTypeInParams, testNotAllowedToPassInternalAttributes and other wrong queries")
  func wrongQueries() {
    let encoding = CFStringBuiltInEncodings.UTF8.rawValue
    let unknown: CFString = CFStringCreateWithCString(nil, "u_Unknown", encoding)
    for wrong in [
      with(kSecAttrAccessControl, "no access control"), with(kSecReturnData, 1),
      with(unknown, true), with(kSecAttrAccessible, "never"), [kSecAttrAccount: "a"],
    ] {
      #expect(place.copy(wrong).status == errSecParam)
      #expect(place.add(wrong) == errSecParam)
    }
    #expect(place.copy(with(kSecMatchLimit, "some")).status == errSecParam)
    #expect(place.copy([kSecClass: "none"]).status == errSecNoSuchClass)
    #expect(place.update(key, [kSecClass: kSecClassGenericPassword]) == errSecNoSuchAttr)
    // An internet password has no generic attribute.
    let generic: Place.Pairs = [
      kSecClass: kSecClassInternetPassword, kSecAttrGeneric: [1] as [UInt8],
    ]
    #expect(place.add(generic) == errSecNoSuchAttr)
  }

  @Test("testGenpReturnRef on iOS: no reference; testCorruptionHandler: no keychain")
  func references() {
    KeychainModel.$caller.withValue(Caller(platform: .iOS)) {
      let added = place.added(with(kSecReturnRef, true))
      let found = place.copy(with(kSecReturnRef, true))
      #expect(added == (errSecSuccess, nil) && found == (errSecSuccess, nil))
      #expect(place.add(with(kSecMatchLimit, kSecMatchLimitOne)) == errSecParam)
    }
    KeychainModel.current.faults.failure = errSecNotAvailable
    #expect(place.copy(key).status == errSecNotAvailable)
  }

  @Test("testServerUsingDataType: an attribute keeps its type, and is compared by its bytes")
  func types() {
    let item: Place.Pairs = [kSecClass: kSecClassInternetPassword, kSecAttrServer: Array("s".utf8)]
    #expect(place.add(item) == errSecSuccess)
    let found = place.copy([
      kSecClass: kSecClassInternetPassword, kSecAttrServer: "s", kSecReturnAttributes: true,
    ])
    #expect(found.value?[kSecAttrServer] == .data(Array("s".utf8)))
    #expect(found.value?[kSecClass] == nil && found.value?[kSecAttrPort] == .number(0))
  }

  @Test("testSecItemCopyMatchingWithBadDateInItem: a damaged item was never here")
  func damage() {
    #expect(place.add(key) == errSecSuccess)
    #expect(place.add(with(kSecAttrService, "s")) == errSecSuccess)
    KeychainModel.current.damage { $0.attributes["svce"] == .text("") }
    #expect(place.add(key) == errSecSuccess)
    KeychainModel.current.damage { $0.attributes["svce"] == .text("") }
    #expect(place.update(with(kSecAttrService, ""), [kSecAttrLabel: "l"]) == errSecItemNotFound)
    #expect(place.copy(with(kSecAttrService, "s")).status == errSecSuccess)
    #expect(KeychainModel.current.rows.count == 1)
  }

  @Test("An update changes all matches or none, and can compare")
  func updates() {
    for account in ["a", "b"] {
      #expect(place.add(with(kSecAttrGeneric, [1] as [UInt8], account: account)) == errSecSuccess)
    }
    let all: Place.Pairs = [kSecClass: kSecClassGenericPassword]
    #expect(place.update(all, [kSecAttrAccount: "c"]) == errSecDuplicateItem)
    #expect(place.copy(key).status == errSecSuccess)
    let change: Place.Pairs = [kSecAttrGeneric: [2] as [UInt8], kSecValueData: [9] as [UInt8]]
    #expect(place.update(with(kSecAttrGeneric, [1] as [UInt8]), change) == errSecSuccess)
    #expect(place.update(with(kSecAttrGeneric, [1] as [UInt8]), change) == errSecItemNotFound)
    #expect(place.copy(with(kSecReturnData, true)) == (errSecSuccess, .data([9])))
    #expect(place.delete(all) == errSecSuccess && KeychainModel.current.rows.isEmpty)
  }

  @Test("Adding is create-if-absent, from several tasks, too")
  func race() async {
    let statuses = await withTaskGroup(of: OSStatus.self) { group in
      for _ in 0..<8 {
        group.addTask { Place.dataProtection.add([kSecClass: kSecClassGenericPassword]) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(statuses.sorted() == Array(repeating: errSecDuplicateItem, count: 7) + [errSecSuccess])
  }

  @Test("testCacheExpiration and levels: locked, and before the first unlock")
  func locks() {
    let model = KeychainModel.current
    #expect(place.add(key) == errSecSuccess)
    let later = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
    #expect(place.add(with(kSecAttrAccessible, later, account: "b")) == errSecSuccess)
    model.faults.isLocked = true
    #expect(place.copy(key).status == errSecInteractionNotAllowed)
    let all: Place.Pairs = [
      kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll,
    ]
    #expect(place.copy(all).status == errSecInteractionNotAllowed)
    #expect(place.copy(with(kSecReturnData, true, account: "b")).status == errSecSuccess)
    #expect(place.update(key, [kSecAttrLabel: "l"]) == errSecInteractionNotAllowed)
    #expect(place.add(with(kSecAttrService, "s")) == errSecInteractionNotAllowed)
    #expect(place.delete(key) == errSecSuccess)
    model.faults.isLocked = false
    let shared = with(kSecAttrSynchronizable, true)
    #expect(place.add(shared) == errSecSuccess)
    model.faults.isLocked = true
    #expect(place.delete(shared) == errSecInteractionNotAllowed)
    model.faults.isBeforeFirstUnlock = true
    let other: Place.Pairs = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "b"]
    #expect(place.copy(other).status == errSecInteractionNotAllowed)
    model.faults.looksAbsentBeforeFirstUnlock = true
    #expect(place.copy(other).status == errSecItemNotFound)
  }

  @Test("An access control: who asks, and with which answers")
  func accessControl() throws {
    let model = KeychainModel.current
    let level = kSecAttrAccessibleWhenUnlocked
    #expect(SecAccessControlCreateWithFlags(nil, kSecClass, [], nil) == nil)
    #expect(SecAccessControlCreateWithFlags(nil, level, [.or, .and], nil) == nil)
    #expect(SecAccessControlCreateWithFlags(nil, level, [.userPresence, .biometryAny], nil) == nil)
    let control = try #require(SecAccessControlCreateWithFlags(nil, level, .userPresence, nil))
    let shared: Place.Pairs = [
      kSecClass: kSecClassGenericPassword, kSecAttrSynchronizable: true,
      kSecAttrAccessControl: control,
    ]
    #expect(place.add(shared) == errSecParam)
    let stays: Place.Pairs = [
      kSecClass: kSecClassGenericPassword, kSecAttrSynchronizable: true,
      kSecAttrAccessible: kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
    ]
    #expect(place.add(stays) == errSecParam)
    let twoLevels: Place.Pairs = [
      kSecClass: kSecClassGenericPassword, kSecAttrAccessControl: control,
      kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked,
    ]
    #expect(place.add(twoLevels) == errSecParam)
    #expect(place.add(with(kSecAttrAccessControl, control)) == errSecSuccess)
    let attributes = place.copy(with(kSecReturnAttributes, true))
    #expect(attributes.value?[kSecAttrAccessControl] == .list([.text("ak"), .number(1)]))
    #expect(model.prompts == [""])
    model.faults.attributesNeverAsk = true
    #expect(place.copy(with(kSecReturnAttributes, true)).status == errSecSuccess)
    func read(_ name: CFString, _ value: Any) -> OSStatus {
      place.copy([
        kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", kSecReturnData: true,
        name: value,
      ]).status
    }
    #expect(read(kSecUseOperationPrompt, "why") == errSecSuccess && model.prompts == ["", "why"])
    #expect(
      read(kSecUseAuthenticationContext, KeychainModel.nonInteractiveContext)
        == errSecInteractionNotAllowed)
    #expect(
      read(kSecUseAuthenticationUI, kSecUseAuthenticationUIFail) == errSecInteractionNotAllowed)
    #expect(read(kSecUseAuthenticationUI, kSecUseAuthenticationUISkip) == errSecItemNotFound)
    #expect(model.prompts == ["", "why"])
    for answer in [PromptAnswer.cancelled, .refused, .impossible] {
      model.faults.answer = answer
      let status = [errSecUserCanceled, errSecAuthFailed, errSecInteractionNotAllowed]
      #expect(status.contains(read(kSecUseOperationPrompt, "why")))
      #expect(status.contains(place.update(key, [kSecAttrLabel: "l"])))
    }
    #expect(place.delete(with(kSecUseAuthenticationUI, kSecUseAuthenticationUISkip)) == errSecParam)
    #expect(place.delete(key) == errSecSuccess)
  }

  @Test("Adding decrypts the item in the way, and may ask", arguments: [false, true])
  func addingOverAnother(addNeverAsks: Bool) throws {
    let model = KeychainModel.current
    model.faults.addNeverAsks = addNeverAsks
    let level = kSecAttrAccessibleWhenUnlocked
    let control = try #require(SecAccessControlCreateWithFlags(nil, level, .userPresence, nil))
    #expect(place.add(with(kSecAttrAccessControl, control)) == errSecSuccess)
    #expect(place.add(key) == errSecDuplicateItem)
    #expect(model.prompts.count == (addNeverAsks ? 0 : 1))
    let silent = with(kSecUseAuthenticationContext, KeychainModel.nonInteractiveContext)
    #expect(place.add(silent) == (addNeverAsks ? errSecDuplicateItem : errSecInteractionNotAllowed))
    model.faults.isLocked = true
    let later = with(kSecAttrAccessible, kSecAttrAccessibleAfterFirstUnlock)
    #expect(place.add(later) == (addNeverAsks ? errSecDuplicateItem : errSecInteractionNotAllowed))
  }

  @Test("Devices without a passcode or LocalAuthentication, and simulators")
  func devices() throws {
    let model = KeychainModel.current
    let level = kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
    model.faults.hasNoPasscode = true
    #expect(place.add(with(kSecAttrAccessible, level)) == errSecAuthFailed)
    model.faults.hasNoPasscode = false
    let control = try #require(SecAccessControlCreateWithFlags(nil, level, .userPresence, nil))
    model.faults.isSimulator = true
    #expect(place.add(with(kSecAttrAccessControl, control)) == errSecSuccess)
    #expect(place.copy(with(kSecReturnData, true)).status == errSecSuccess && model.prompts.isEmpty)
    #expect(place.delete(key) == errSecSuccess)
    model.faults.isSimulator = false
    #expect(place.add(with(kSecAttrAccessControl, control)) == errSecSuccess)
    model.faults.lacksLocalAuthentication = true
    #expect(place.copy(with(kSecReturnData, true)).status == errSecUnimplemented)
    #expect(place.delete(key) == errSecSuccess)
  }

  @Test("A reference excludes attributes in a search alone")
  func referencesWithAttributes() throws {
    let reference = try #require(place.added(with(kSecReturnPersistentRef, true)).value)
    func both(_ account: String) -> Place.Pairs {
      [kSecValuePersistentRef: reference, kSecAttrAccount: account]
    }
    #expect(place.copy(both("a")).status == errSecParam)
    #expect(place.update(both("b"), [kSecAttrLabel: "l"]) == errSecItemNotFound)
    #expect(place.update(both("a"), [kSecAttrLabel: "l"]) == errSecSuccess)
    #expect(place.delete(both("b")) == errSecItemNotFound)
    #expect(place.delete(both("a")) == errSecSuccess)
    #expect(place.add(both("a")) == errSecSuccess)
    #expect(place.copy([kSecValuePersistentRef: reference]).status == errSecSuccess)
  }

  @Test(
    "Text and secrets of every kind",
    arguments: ["a\0b", "\u{FEFF}a", "e\u{301}", "\u{E9}", ""])
  func text(account: String) {
    let secret = [UInt8](repeating: 7, count: 1 << 20)
    #expect(place.add(with(kSecValueData, secret, account: account)) == errSecSuccess)
    let other = account.unicodeScalars.count == 1 ? "e\u{301}" : "\u{E9}"
    #expect(place.copy(with(kSecReturnData, true, account: other)).status == errSecItemNotFound)
    let found = place.copy([
      kSecClass: kSecClassGenericPassword, kSecAttrAccount: account, kSecReturnData: true,
      kSecReturnAttributes: true,
    ])
    // A first byte order mark is stored and compared, but not given back.
    let scalars = account.unicodeScalars.drop { $0 == "\u{FEFF}" }
    #expect(found.value?[kSecAttrAccount] == .text(String(scalars)))
    #expect(found.value?[kSecValueData] == .data(secret))
  }
}
