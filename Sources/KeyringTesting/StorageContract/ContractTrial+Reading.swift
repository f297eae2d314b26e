// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// The trial of reading: every way to read an item finds the same.
extension ContractTrial {
  func missingIsEmpty() throws {
    try expect(secret(password()) == nil, "a missing item was read")
    try expect(storage.password(for: password()) == nil, "a password was read")
    try expect(credential().read() == nil, "a credential was read")
    try expect(!storage.exists(password()), "a missing item exists")
    let items = try storage.items(matching: .service(service, details: .all))
    try expect(items.isEmpty, "a service without items has \(items.count)")
    try save("present", password())
    try expect(storage.exists(password()), "a stored item does not exist")
    try expect(secret(password("another")) == nil, "a missing item was read beside a stored one")
  }

  func keysAreReadAtOnce() throws {
    let keys: [ItemKey] = [
      password("first"), password("second"), password("absent"), password("not text"),
      .value(service: service, account: "first"), credentials("first"), credentials("absent"),
      .internetPassword(server: InternetServer(service), account: "first"),
    ]
    for (index, key) in keys.enumerated() where !"\(key)".contains("absent") {
      try save("secret \(index)", key)
    }
    try storage.save(SecureItem(key: keys[3], secret: Secret(bytes: [0xFF])), mode: .update)
    try storage[keys[5], as: .credential].write(Credential(login: "login", password: "secret"))
    for details in [ItemQuery.Details.secret, .metadata, .all, []] {
      let items = try storage.items(for: keys + [keys[0]], details: details)
      for key in keys {
        try expect(
          items[key] == storage.item(for: key, details: details),
          "reading many keys finds another item under \(key) than reading it alone")
      }
      try expect(items.count == keys.count - 2, "reading many keys finds \(items.count)")
    }
    try expect(storage.items(for: [], details: .all).isEmpty, "reading no keys finds something")
  }

  func secretsAreReadAlone() throws {
    let keys = [password(), password("another"), credentials()]
    for round in ["first", "second"] {
      for (index, key) in keys.enumerated() {
        try save("\(round) \(index)", key)
        let found = try (storage.secret(for: key), storage.secret(for: key))
        try expect(
          found == (Secret("\(round) \(index)"), Secret("\(round) \(index)")),
          "the secret of \(key) alone is another one than that of the item")
      }
    }
    try storage.save(SecureItem(key: keys[0], label: "renamed"), mode: .update)
    for key in keys {
      try expect(
        storage.secret(for: key) == secret(key),
        "after a label has changed the secret of \(key) alone is another one")
    }
    try storage.remove(keys[0])
    for key in [keys[0], password("absent")] {
      try expect(storage.secret(for: key) == nil, "alone a missing secret was read")
    }
    try expect(.invalidArgument, of: "reading a secret with an empty account") {
      _ = try storage.secret(for: password(""))
    }
  }

  func undecodableIsNotMissing() throws {
    let notText = Secret(bytes: [0xFF, 0xFE, 0x00, 0xC0])
    try storage.save(SecureItem(key: password(), secret: notText), mode: .add)
    try expect(.undecodable, of: "reading bytes as text") {
      _ = try storage.password(for: password())
    }
    try expect(secret(password()) == notText, "reading an item as another type changed it")
  }

  func bothFormsAgree() throws {
    try save("value", password())
    let (storage, key) = (storage, password())
    let (secret, diagnosis) = try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      (try await storage.secret(for: key), try await storage.diagnose())
    }
    try expect(try storage.secret(for: key) == secret, "an await read another secret")
    let states = [storage.diagnose(), diagnosis].map { diagnosis in
      diagnosis.findings.map { "\($0.subject): \($0.state)" }
    }
    try expect(
      states[0] == states[1], "a diagnosis found \(states[0]), and with await \(states[1])")
  }

  func callsReadOneVersion() throws {
    guard storage.readsOneVersion else { return }
    let keys = [password("first"), password("second")]
    for key in keys { try save("0", key) }
    let isDone = Atomic(false)
    let reading = Atomic(3)
    let write = { @Sendable () throws in
      defer { isDone.store(true, ordering: .releasing) }
      var number = 0
      // A quick storage could be done before the first reader begins.
      repeat {
        number += 1
        for key in keys { try save("\(number)", key) }
      } while number < 40 || reading.load(ordering: .acquiring) > 0
    }
    @Sendable func read(_ body: () throws -> [ItemKey: SecureItem]) throws {
      var calls = 0
      defer { if calls < 10 { reading.subtract(1, ordering: .releasing) } }
      repeat {
        let items = try body()
        let numbers = keys.map { key in items[key]?.secret?.text.flatMap { Int($0) } ?? -1 }
        try expect(
          numbers[0] >= 0 && (0...1).contains(numbers[0] - numbers[1]),
          "a call found \(numbers) in items that are written one after the other")
        calls += 1
        if calls == 10 { reading.subtract(1, ordering: .releasing) }
      } while !isDone.load(ordering: .acquiring)
    }
    let byKeys = { @Sendable () throws in
      // The absent ones give a storage that finds one after the other time to find the two in different versions.
      let absent = (0..<50).map { password("absent \($0)") }
      try read { try storage.items(for: [keys[0]] + absent + [keys[1]], details: .secret) }
    }
    let all = { @Sendable () throws in
      try read {
        let items = try storage.items(matching: .service(service, details: .secret))
        return Dictionary(uniqueKeysWithValues: items.map { ($0.key, $0) })
      }
    }
    try Self.concurrently([write, byKeys, byKeys, all])
  }
}
