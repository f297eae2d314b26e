// SPDX-License-Identifier: Apache-2.0

import AppleKeychainModel
import CoreFoundation
import Security
import Testing

/// The file-based keychain, and calls that don't say which keychain they mean.
@Suite(.freshDevice) struct FileTests {
  let place = Place.file
  let all: Place.Pairs = [kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll]

  private func with(_ name: CFString, _ value: Any, account: String = "a") -> Place.Pairs {
    [kSecClass: kSecClassGenericPassword, kSecAttrAccount: account, name: value]
  }

  @Test("A generic password's text ends at its first NUL; an internet password's doesn't")
  func textWithNUL() {
    #expect(place.add(with(kSecAttrService, "s", account: "a\0b")) == errSecSuccess)
    #expect(place.add(with(kSecAttrService, "s", account: "a\0c")) == errSecDuplicateItem)
    for account in ["a\0b", "a\0c"] {
      let item: Place.Pairs = [kSecClass: kSecClassInternetPassword, kSecAttrAccount: account]
      #expect(place.add(item) == errSecSuccess)
    }
  }

  @Test("Attributes: a label by default, the class, nothing it doesn't know")
  func attributes() {
    #expect(place.add(with(kSecAttrService, "s")) == errSecSuccess)
    #expect(place.add(with(kSecAttrApplicationTag, [1] as [UInt8], account: "b")) == errSecSuccess)
    let found = place.copy(with(kSecReturnAttributes, true)).value
    #expect(found?[kSecAttrLabel] == .text("s") && found?[kSecClass] == .text("genp"))
    #expect(found?[kSecAttrAccessGroup] == nil && found?[kSecAttrAccessible] == nil)
    #expect(place.copy(with(kSecReturnData, true)) == (errSecSuccess, .data([])))
    for name in ["mine", "yours"] {
      let item: Place.Pairs = [
        kSecClass: kSecClassInternetPassword, kSecAttrServer: "s", kSecAttrProtocol: name,
        kSecAttrGeneric: [1] as [UInt8],
      ]
      #expect(place.add(item) == (name == "mine" ? errSecSuccess : errSecDuplicateItem))
    }
  }

  @Test("Limits: one by default, and never all with their data")
  func limits() throws {
    for account in ["a", "b", "c"] {
      #expect(place.add(with(kSecAttrService, "s", account: account)) == errSecSuccess)
    }
    let data: Place.Pairs = [
      kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true,
    ]
    #expect(place.copy(data).status == errSecParam)
    let some: Place.Pairs = [
      kSecClass: kSecClassGenericPassword, kSecMatchLimit: 2, kSecReturnData: true,
    ]
    #expect(place.copy(some).value?.elements?.count == 2)
    let references = place.copy([
      kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll,
      kSecReturnPersistentRef: true,
    ])
    let last = try #require(references.value?.elements?.last)
    let listed: Place.Pairs = [
      kSecClass: kSecClassGenericPassword, kSecMatchItemList: Value.list([last]),
      kSecReturnAttributes: true,
    ]
    #expect(place.copy(listed).value?[kSecAttrAccount] == .text("c"))
    // A reference alone counts, and is the key: it doesn't follow an item that gets another one.
    let byReference: Place.Pairs = [kSecValuePersistentRef: last, kSecAttrAccount: "other"]
    #expect(place.update(byReference, [kSecAttrAccount: "d"]) == errSecSuccess)
    #expect(place.copy(byReference).status == errSecItemNotFound)
    #expect(place.add(with(kSecAttrService, "s", account: "c")) == errSecSuccess)
    #expect(place.delete(byReference) == errSecSuccess)
    let one: Place.Pairs = [kSecClass: kSecClassGenericPassword]
    #expect(place.update(one, [kSecAttrComment: "c"]) == errSecSuccess)
    #expect(KeychainModel.current.rows.filter { $0.attributes["icmt"] != nil }.count == 1)
    #expect(place.update(all, [kSecAttrAccount: "z"]) == errSecDuplicateItem)
    #expect(KeychainModel.current.rows.filter { $0.attributes["acct"] == .text("z") }.count == 1)
    #expect(place.delete(one) == errSecSuccess && KeychainModel.current.rows.count == 2)
    #expect(place.delete(all) == errSecSuccess && place.delete(all) == errSecItemNotFound)
  }

  @Test("An update's window: the last one wins, but another program's data hides the item")
  func window() {
    let model = KeychainModel.current
    #expect(place.add(with(kSecValueData, [1] as [UInt8])) == errSecSuccess)
    model.faults.fileUpdateWindow = { [place] in
      KeychainModel.current.faults.fileUpdateWindow = nil
      let key: Place.Pairs = [kSecClass: kSecClassGenericPassword]
      #expect(place.update(key, [kSecValueData: [2] as [UInt8]]) == errSecSuccess)
    }
    let key = with(kSecReturnData, true)
    #expect(place.update(key, [kSecValueData: [3] as [UInt8]]) == errSecSuccess)
    #expect(place.copy(key) == (errSecSuccess, .data([3])))
    model.faults.fileUpdateWindow = { [place] in
      #expect(place.delete([kSecClass: kSecClassGenericPassword]) == errSecSuccess)
    }
    #expect(place.update(key, [kSecValueData: [4] as [UInt8]]) == errSecItemNotFound)
    #expect(place.add(key) == errSecSuccess)
    model.faults.fileUpdateWindow = { [place] in
      KeychainModel.current.faults.fileUpdateWindow = nil
      KeychainModel.$caller.withValue(Caller("other")) {
        let all: Place.Pairs = [kSecClass: kSecClassGenericPassword]
        #expect(place.update(all, [kSecValueData: [5] as [UInt8]]) == errSecSuccess)
      }
    }
    #expect(place.update(key, [kSecValueData: [6] as [UInt8]]) == errSecItemNotFound)
    #expect(place.copy(key) == (errSecSuccess, .data([5])))
  }

  @Test("kc-05: prompts for a locked file and for another program's item")
  func prompts() {
    let model = KeychainModel.current
    let key = with(kSecReturnData, true)
    #expect(place.add(with(kSecValueData, [1] as [UInt8])) == errSecSuccess)
    model.faults.isFileLocked = true
    model.faults.answer = .refused
    #expect(place.copy(with(kSecReturnAttributes, true)).status == errSecSuccess)
    #expect(place.copy(key).status == errSecAuthFailed)
    model.faults.answer = .allowed
    #expect(place.copy(key).status == errSecSuccess && !model.faults.isFileLocked)
    model.faults.answer = .cancelled
    KeychainModel.$caller.withValue(Caller("other")) {
      #expect(place.copy(key).status == errSecUserCanceled)
      #expect(place.update(key, [kSecAttrLabel: "l"]) == errSecUserCanceled)
      #expect(place.delete(key) == errSecInvalidOwnerEdit)
    }
    let form: Place.Pairs = [
      kSecClass: kSecClassInternetPassword,
      kSecAttrAuthenticationType: kSecAttrAuthenticationTypeHTMLForm,
    ]
    #expect(place.add(form) == errSecSuccess)
    KeychainModel.$caller.withValue(Caller("other")) {
      #expect(place.delete(form) == errSecSuccess)
    }
    model.damage { _ in true }
    #expect(place.copy(key).status == errSecDecode)
  }

  @Test("No authentication type has two forms, no protocol and no port have one; none is shown")
  func authenticationType() throws {
    func server(_ name: CFString? = nil, _ value: Any = "") -> Place.Pairs {
      [
        kSecClass: kSecClassInternetPassword, kSecAttrServer: "s",
        kSecMatchLimit: kSecMatchLimitAll,
        kSecReturnAttributes: true, name ?? kSecReturnRef: name == nil ? false : value,
      ]
    }
    #expect(place.add(server()) == errSecSuccess)
    #expect(place.add(server(kSecAttrAuthenticationType)) == errSecSuccess)
    let same: [(name: CFString, value: Any)] = [
      (kSecAttrAuthenticationType, "mine"), (kSecAttrProtocol, ""), (kSecAttrPort, 0),
    ]
    for (name, value) in same { #expect(place.add(server(name, value)) == errSecDuplicateItem) }
    let found = try #require(place.copy(server()).value?.elements)
    #expect(found.count == 2)
    for item in found {
      #expect(item[kSecAttrAuthenticationType] == nil && item[kSecAttrProtocol] == nil)
    }
    #expect(place.copy(server(kSecAttrAuthenticationType)).value?.elements?.count == 1)
    #expect(place.delete(server(kSecAttrAuthenticationType)) == errSecSuccess)
    #expect(place.copy(server(kSecAttrAuthenticationType)).status == errSecItemNotFound)
    #expect(place.copy(server()).value?.elements?.count == 1)
  }

  @Test("A search that fails finds nothing; only adding and the status of the keychain say why")
  func failingSearch() {
    let key = with(kSecReturnData, true)
    #expect(place.add(key) == errSecSuccess)
    var status: SecKeychainStatus = 0
    #expect(SecKeychainGetStatus(nil, &status) == errSecSuccess)
    KeychainModel.current.faults.failure = errSecNoDefaultKeychain
    #expect(place.copy(key).status == errSecItemNotFound)
    #expect(place.update(key, [kSecAttrLabel: "l"]) == errSecItemNotFound)
    #expect(place.delete(key) == errSecItemNotFound)
    #expect(place.add(key) == errSecNoDefaultKeychain)
    #expect(SecKeychainGetStatus(nil, &status) == errSecNoDefaultKeychain)
  }

  @Test("A new secret asks nobody, and replaces the partition list, but not the trusted programs")
  func partitions() {
    let model = KeychainModel.current
    let key = with(kSecReturnData, true)
    let other = Caller("other", team: "OTHER")
    func read(_ caller: Caller = Caller()) -> Int {
      let before = model.prompts.count
      #expect(
        KeychainModel.$caller.withValue(caller) { place.copy(key).status } == errSecSuccess)
      return model.prompts.count - before
    }
    func write(_ change: Place.Pairs, _ caller: Caller) {
      #expect(
        KeychainModel.$caller.withValue(caller) { place.update(key, change) } == errSecSuccess)
    }
    #expect(place.add(key) == errSecSuccess)
    #expect(read() == 0 && read(other) == 1 && read(Caller("other")) == 1)
    write([kSecValueData: [1] as [UInt8]], Caller("other"))
    #expect(model.prompts.count == 2 && read() == 0)
    write([kSecValueData: [2] as [UInt8]], other)
    #expect(model.prompts.count == 2 && read() == 1 && read(other) == 1)
    write([kSecAttrLabel: "l"], other)
    #expect(model.prompts.count == 5)
    write([kSecValueData: [3] as [UInt8]], Caller())
    #expect(model.prompts.count == 5 && read() == 0)
    // Another build without a signature is another program.
    let builds = ["1", "2"].map { Caller("tool", hash: $0) }
    #expect(place.delete(key) == errSecSuccess)
    #expect(KeychainModel.$caller.withValue(builds[0]) { place.add(key) } == errSecSuccess)
    #expect(read(builds[0]) == 0 && read(builds[1]) == 1)
    write([kSecValueData: [4] as [UInt8]], builds[1])
    #expect(read(builds[0]) == 1 && read(builds[1]) == 1)
  }

  @Test("A deletion compares names, and isn't refused where every program is trusted")
  func deletion() {
    let key = with(kSecReturnData, true)
    let add = {
      #expect(KeychainModel.$caller.withValue(Caller("a")) { place.add(key) } == errSecSuccess)
    }
    func delete(_ caller: Caller) -> OSStatus {
      KeychainModel.$caller.withValue(caller) { place.delete(key) }
    }
    add()
    #expect(delete(Caller("b")) == errSecInvalidOwnerEdit)
    #expect(delete(Caller("a", hash: "another build")) == errSecSuccess)
    add()
    KeychainModel.current.trustEveryProgram()
    #expect(delete(Caller("b")) == errSecSuccess)
  }

  @Test("A new empty secret: stored, refused or ignored", arguments: EmptyUpdate.allCases)
  func emptySecret(answer: EmptyUpdate) {
    KeychainModel.current.faults.emptyFileUpdate = answer
    let key = with(kSecReturnData, true)
    #expect(place.add(with(kSecValueData, [1] as [UInt8])) == errSecSuccess)
    let status = place.update(key, [kSecValueData: [] as [UInt8], kSecAttrLabel: "l"])
    #expect(status == (answer == .refused ? errSecParam : errSecSuccess))
    #expect(place.copy(key).value == .data(answer == .stores ? [] : [1]))
    let isChanged = KeychainModel.current.rows.first?.attributes["labl"] == .text("l")
    #expect(isChanged == (answer != .refused))
  }

  @Test("Without the flag: adding goes to the file, the others to both")
  func noFlag() {
    let (either, key) = (Place.either, with(kSecReturnAttributes, true))
    #expect(either.add(key) == errSecSuccess && Place.dataProtection.add(key) == errSecSuccess)
    #expect(either.copy(key).value?[kSecAttrAccessGroup] == .text("TEAM.app"))
    let list: Place.Pairs = [
      kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll,
      kSecReturnAttributes: true,
    ]
    #expect(either.copy(list).value?.elements?.count == 2)
    #expect(either.delete(key) == errSecSuccess && KeychainModel.current.rows.isEmpty)
    // A missing entitlement doesn't count where there is another keychain.
    KeychainModel.$caller.withValue(Caller(accessGroups: [])) {
      #expect(either.add(key) == errSecSuccess && either.update(key, [:]) == errSecSuccess)
      #expect(either.delete(key) == errSecSuccess)
    }
    // The flag decides alone: a synchronizable item isn't one in the file.
    #expect(place.add(with(kSecAttrSynchronizable, true)) == errSecSuccess)
    let shared = with(kSecAttrSynchronizable, true)
    #expect(Place.dataProtection.copy(shared).status == errSecItemNotFound)
    #expect(place.copy(key).status == errSecSuccess)
  }
}
