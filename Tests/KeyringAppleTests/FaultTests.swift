// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Keyring
import AppleKeychainModel
import KeyringApple
import KeyringStorage
import TestPrograms
import Testing

struct FaultTests {
  let device = KeychainModel()
  let key = ItemKey.password(service: "service", account: "account")

  static let codes: [Int32: SecureStorageError.Code] = [
    -25308: .locked, -128: .userCanceled, -25293: .accessDenied, -34020: .accessDenied,
    -61: .accessDenied, -25244: .accessDenied, -25307: .noDefaultCollection,
    -25294: .collectionNotFound, -25295: .collectionNotFound, -25291: .providerFailed,
    -67585: .providerFailed, -25315: .locked, -25320: .locked, -26275: .damaged, -50: .other,
    -4: .other, -25303: .other, -34018: .noStorage, -1: .other,
  ]

  @Test(arguments: codes, TestKeychain.allCases)
  func `each status has its code`(
    fault: (key: Int32, value: SecureStorageError.Code), keychain: TestKeychain
  ) throws {
    let storage = keychain.storage(on: device)
    try storage.setPassword("s3cret", for: key)
    device.faults.failure = fault.key
    let new = "other s3cret"
    // The query of a key names the group that the storage has learned.
    let operations: [(namesGroup: Bool, run: () throws -> Void)] = [
      (true, { _ = try storage.secret(for: key) }),
      (false, { _ = try storage.items(matching: ItemQuery()) }),
      (true, { _ = try storage.exists(key) }), (true, { try storage.remove(key) }),
      (false, { try storage.removeItems(matching: .service("service")) }),
      (true, { try storage.setPassword(new, for: key, mode: .add) }),
      (true, { try storage.setPassword(new, for: key, mode: .update) }),
      (true, { try storage.setPassword(new, for: key) }),
      (
        true,
        { try storage[credential, as: .credential].write(Credential(login: new, password: new)) }
      ),
    ]
    for operation in operations {
      let error = try #require(throws: SecureStorageError.self) { try operation.run() }
      let isDenied = fault.key == -34018 && operation.namesGroup && keychain != .fileBased
      #expect(error.code == (isDenied ? .accessDenied : fault.value))
      #expect(error.underlying?.domain == "OSStatus")
      #expect(error.underlying?.code == Int(fault.key))
      #expect(error.underlying?.text == "OSStatus \(fault.key)")
      #expect(!"\(error)".contains("s3cret"))
      if fault.key == -50, keychain != .fileBased {
        #expect(error.message.contains("itemClass"))
      }
    }
    #expect(storage.diagnose().failure?.underlying?.code == Int(fault.key))
    device.faults.failure = nil
    #expect(try storage.password(for: key) == "s3cret")
  }

  @Test(arguments: TestKeychain.allCases)
  func `no more is known of a keychain than that it's one`(keychain: TestKeychain) {
    #expect(keychain.storage(on: device).diagnose().protection == .keyring)
    #expect(AppleKeychainStorage().diagnose().protection == .unknown, "there is no keychain here")
  }

  private var credential: ItemKey { .credentials(service: "service", label: "label") }

  @Test func `a locked device is locked, in lists too`() throws {
    let background = AppleKeychainStorage(on: device)
    let storage = AppleKeychainStorage(.dataProtection(accessibility: .whenUnlocked), on: device)
    let readable = ItemKey.password(service: "other", account: "account")
    try storage.setPassword("s3cret", for: key)
    try background.setPassword("s3cret", for: readable)
    device.faults.isLocked = true
    for allowsUnlocking in [true, false] {
      for details in [ItemQuery.Details.all, .metadata, .secret, []] {
        for query in [ItemQuery(key: key), ItemQuery(), .service("service")] {
          var query = query
          (query.details, query.allowsUnlocking) = (details, allowsUnlocking)
          expectError(.locked) { try storage.items(matching: query) }
        }
      }
    }
    expectError(.locked) { try storage.exists(key) }
    expectError(.locked) { try storage.setPassword("other", for: key) }
    expectError(.locked) { try storage.setPassword("other", for: key, mode: .add) }
    // An item that can be read after the first unlock still can, and one service's list hasn't the other's item.
    #expect(try background.password(for: readable) == "s3cret")
    #expect(try background.items(matching: .service("other")).map(\.key) == [readable])
    // Before the first unlock, nothing can.
    device.faults.isBeforeFirstUnlock = true
    expectError(.locked) { try background.password(for: readable) }
    expectError(.locked) { try background.items(matching: ItemQuery()) }
    // Apple's keychain deletes without decrypting.
    #expect(try storage.remove(key))
    device.faults = Faults()
    #expect(try background.items(matching: ItemQuery()).map(\.key) == [readable])
  }

  @Test(arguments: [false, true])
  func `before the first unlock, nothing reads as absent`(looksAbsent: Bool) throws {
    let before = AppleKeychainStorage(on: device)
    try before.setPassword("s3cret", for: key)
    device.faults.isLocked = true
    device.faults.isBeforeFirstUnlock = true
    device.faults.looksAbsentBeforeFirstUnlock = looksAbsent
    for keychain in [
      AppleKeychainStorage.Keychain.dataProtection(), .dataProtection(accessGroup: "TEAM.app"),
    ] {
      let storage = AppleKeychainStorage(keychain, on: device)
      for _ in 1...2 {
        expectError(.locked) { try storage.password(for: key) }
        expectError(.locked) { try storage.exists(key) }
        expectError(.locked) { try storage.items(matching: ItemQuery()) }
        expectError(.locked) { try storage.setPassword("new", for: key, mode: .update) }
        expectError(.locked) { try storage.setPassword("new", for: key) }
        expectError(.locked) { try storage.removeItems(matching: .service("service")) }
      }
      // Apple's keychain deletes without decrypting, if it finds the item.
      if looksAbsent { expectError(.locked) { try storage.remove(key) } }
      #expect(storage.diagnose().failure?.code == .locked)
    }
    let process = AppleKeychainStorage(on: device)
    expectError(.locked) { try process.password(for: key) }
    device.faults = Faults()
    #expect(try process.password(for: key) == "s3cret")
    #expect(device.rows.count == 1)
  }

  @Test(arguments: [false, true])
  func `adding never asks if it mustn't`(addNeverAsks: Bool) throws {
    device.faults.addNeverAsks = addNeverAsks
    func storage(_ interaction: AppleKeychainStorage.Interaction) -> AppleKeychainStorage {
      AppleKeychainStorage(
        .dataProtection(
          accessControl: .userPresence, prompt: "to sign in", interaction: interaction),
        on: device)
    }
    try storage(.allowed).setPassword("s3cret", for: key)
    expectError(addNeverAsks ? .itemAlreadyExists : .locked) {
      try storage(.never).setPassword("other", for: key, mode: .add)
    }
    #expect(device.prompts.isEmpty)
    expectError(.itemAlreadyExists) {
      try storage(.allowed).setPassword("other", for: key, mode: .add)
    }
    #expect(device.prompts.count == (addNeverAsks ? 0 : 1))
  }

  @Test func `a device that can't have an item says what to do`() throws {
    let strict = AppleKeychainStorage.Keychain.dataProtection(
      accessibility: .whenPasscodeSetThisDeviceOnly)
    let confirmed = AppleKeychainStorage.Keychain.dataProtection(
      accessibility: .whenPasscodeSetThisDeviceOnly, accessControl: .userPresence)
    device.faults.hasNoPasscode = true
    for keychain in [strict, confirmed] {
      let error = #expect(throws: SecureStorageError.self) {
        try AppleKeychainStorage(keychain, on: device).setPassword("s3cret", for: key)
      }
      #expect(error?.code == .accessDenied)
      #expect(error?.recoverySuggestion?.contains("Set a passcode") == true)
    }
    device.faults = Faults()
    let storage = AppleKeychainStorage(confirmed, on: device)
    try storage.setPassword("s3cret", for: key)
    device.faults.lacksLocalAuthentication = true
    let error = #expect(throws: SecureStorageError.self) { try storage.password(for: key) }
    #expect(error?.underlying?.code == -4)
    #expect(error?.recoverySuggestion?.contains("accessControl") == true)
    // In a simulator, nothing is confirmed.
    device.faults.isSimulator = true
    let other = ItemKey.password(service: "service", account: "other")
    try storage.setPassword("s3cret", for: other)
    #expect(try storage.password(for: other) == "s3cret")
    #expect(device.prompts.isEmpty)
  }

  @Test func `another program's secret is written without a question, and read with one`() throws {
    func storage(_ team: String) -> AppleKeychainStorage {
      AppleKeychainStorage(.fileBased, on: device, for: Caller(team, team: team))
    }
    try storage("ours").setPassword("s3cret", for: key)
    try storage("theirs").setPassword("new", for: key)
    #expect(device.prompts.isEmpty)
    #expect(try storage("ours").password(for: key) == "new")
    #expect(try storage("theirs").password(for: key) == "new")
    #expect(device.prompts.count == 2)
    let error = #expect(throws: SecureStorageError.self) { try storage("theirs").remove(key) }
    #expect(error?.code == .accessDenied && error?.message.contains("name") == true)
    // Only adding never takes it over.
    try storage("ours").setPassword("ours", for: key)
    expectError(.itemAlreadyExists) {
      try storage("theirs").setPassword("theirs", for: key, mode: .add)
    }
    #expect(try storage("ours").password(for: key) == "ours")
    #expect(device.prompts.count == 2)
    #expect(try storage("ours").remove(key))
  }

  @Test func `a confirmation is asked for, and not when it mustn't be`() throws {
    let asking = AppleKeychainStorage.Keychain.dataProtection(
      accessControl: .userPresence, prompt: "to sign in")
    let calls = RecordingKeychain(device)
    let storage = AppleKeychainStorage(asking, calls: calls)
    let silent = AppleKeychainStorage(
      .dataProtection(accessControl: .userPresence, interaction: .never), on: device)
    try storage.setPassword("s3cret", for: key)
    #expect(device.prompts.isEmpty)
    #expect(try storage.password(for: key) == "s3cret")
    #expect(!device.prompts.isEmpty)
    #expect(
      calls.queries.last?[.authenticationContext] == .context(prompt: "to sign in", mayAsk: true))
    let count = device.prompts.count
    expectError(.locked) { try silent.password(for: key) }
    expectError(.locked) { try silent.items(matching: .service("service")) }
    expectError(.locked) { try silent.setPassword("other", for: key, mode: .update) }
    var query = ItemQuery.key(key, details: .all)
    query.allowsUnlocking = false
    expectError(.locked) { try storage.items(matching: query) }
    #expect(device.prompts.count == count)
    device.faults.answer = .cancelled
    expectError(.userCanceled) { try storage.password(for: key) }
    device.faults.answer = .refused
    expectError(.accessDenied) { try storage.password(for: key) }
    device.faults.answer = .impossible
    expectError(.locked) { try storage.password(for: key) }
    // As reported, against Apple's source: attributes alone don't ask.
    device.faults.attributesNeverAsk = true
    #expect(try silent.exists(key))
    let listed = try silent.items(
      matching: ItemQuery(attributes: ["service": "service"], details: .all, allowsUnlocking: false)
    )
    #expect(listed.map(\.isLocked) == [true] && listed.map(\.secret) == [nil])
    #expect(try silent.remove(key))
  }

  @Test func `an item's protection can change`() throws {
    let storage = AppleKeychainStorage(on: device)
    try storage.setPassword("s3cret", for: key)
    #expect(device.rows.first?.attributes["pdmn"]?.string == "cku")
    let other = AppleKeychainStorage(.dataProtection(accessibility: .whenUnlocked), on: device)
    // The level isn't part of a query, so the item is still found and keeps its level.
    try other.setPassword("other", for: key)
    #expect(device.rows.first?.attributes["pdmn"]?.string == "cku")
    try other.updateProtection(of: key)
    #expect(device.rows.first?.attributes["pdmn"]?.string == "ak")
    #expect(try storage.password(for: key) == "other")
    try AppleKeychainStorage(.dataProtection(accessControl: .userPresence), on: device)
      .updateProtection(of: key)
    #expect(try storage.password(for: key) == "other")
    #expect(!device.prompts.isEmpty)
    expectError(.itemNotFound) { try storage.updateProtection(of: credential) }
    expectError(.invalidArgument) {
      try AppleKeychainStorage(.fileBased, on: device).updateProtection(of: key)
    }
  }

  @Test func `options that Apple doesn't combine are refused`() throws {
    for keychain in [
      AppleKeychainStorage.Keychain.dataProtection(
        accessibility: .whenUnlockedThisDeviceOnly, synchronizable: true),
      .dataProtection(accessControl: .userPresence, synchronizable: true),
    ] {
      let storage = AppleKeychainStorage(keychain, on: device)
      expectError(.invalidArgument) { try storage.setPassword("s3cret", for: key) }
      #expect(try storage.password(for: key) == nil)
    }
    // Two biometric conditions are no access control, so the item isn't stored without one.
    let storage = AppleKeychainStorage(
      .dataProtection(accessControl: [.biometryAny, .biometryCurrentSet]), on: device)
    expectError(.other) { try storage.setPassword("s3cret", for: key) }
    #expect(device.rows.isEmpty)
  }

  @Test func `a damaged item of the file isn't absent`() throws {
    let storage = AppleKeychainStorage(.fileBased, on: device)
    try storage.setPassword("s3cret", for: key)
    device.damage { _ in true }
    expectError(.damaged) { try storage.password(for: key) }
    expectError(.damaged) { try storage.items(matching: ItemQuery(details: .all)) }
    #expect(try storage.exists(key))
  }

  @Test func `another program's item of the file asks the user`() throws {
    try AppleKeychainStorage(.fileBased, on: device, for: Caller("other"))
      .setPassword("s3cret", for: key)
    let storage = AppleKeychainStorage(.fileBased, on: device)
    #expect(try storage.items(matching: ItemQuery()).map(\.key) == [key])
    #expect(device.prompts.isEmpty)
    #expect(try storage.password(for: key) == "s3cret")
    #expect(device.prompts.count == 1)
    expectError(.accessDenied) { try storage.remove(key) }
    device.faults.answer = .refused
    expectError(.accessDenied) { try storage.password(for: key) }
    expectError(.accessDenied) {
      try storage.save(SecureItem(key: key, label: "other"), mode: .update)
    }
    device.faults.answer = .cancelled
    device.faults.isFileLocked = true
    expectError(.userCanceled) { try storage.password(for: key) }
  }
}
#endif
