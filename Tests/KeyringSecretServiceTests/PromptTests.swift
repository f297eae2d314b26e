// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import KeyringTesting
import Testing

/// A locked collection, and a user who unlocks it or doesn't.
@Suite(
  .inPrivateSession, .serialized,
  .only(on: .gnomeKeyring, "the prompts of other keyrings need a screen and a user"))
struct PromptTests {
  private func withLockedCollection(
    _ body: (_ storage: SecretServiceStorage, _ label: String) throws -> Void
  ) throws {
    try PasswordCollection.whileThere(for: .allowed) { collection, storage in
      try storage.setPassword("s3cret", for: .password(service: "service", account: "account"))
      try storage.lock()
      try body(storage, collection.label)
    }
  }

  private func password(_ storage: SecretServiceStorage) throws -> String? {
    try storage.password(for: .password(service: "service", account: "account"))
  }

  @Test func `the right password unlocks the collection`() throws {
    try withLockedCollection { storage, _ in
      // The keyring asks again after a wrong one.
      let prompter = try Prompter(.password("wrong"), .password(PasswordCollection.password))
      #expect(try password(storage) == "s3cret")
      #expect(try !storage.isLocked())
      // Nobody is asked again.
      try storage.unlock()
      #expect(try password(storage) == "s3cret")
      #expect(try prompter.finish() == 2)
    }
  }

  @Test func `every operation fails if its prompt is dismissed`() throws {
    try withLockedCollection { storage, _ in
      let prompter = try Prompter(.dismiss, .dismiss, .dismiss, .dismiss)
      let operations: [() throws -> Void] = [
        { _ = try password(storage) },
        {
          try storage.setPassword("other", for: .password(service: "service", account: "account"))
        },
        {
          try storage.setPassword("other", for: .password(service: "service", account: "another"))
        },
        { try storage.removeItems(matching: .service("service")) },
      ]
      for operation in operations {
        expectError(.userCanceled) { try operation() }
      }
      #expect(try prompter.finish() == 4)
      let second = try Prompter(.password(PasswordCollection.password))
      #expect(try password(storage) == "s3cret")
      #expect(try storage.items(matching: .service("service")).count == 1)
      _ = try second.finish()
    }
  }

  @Test func `writing and removing unlock the collection, too`() throws {
    try withLockedCollection { storage, _ in
      let password = Prompter.Answer.password(PasswordCollection.password)
      let prompter = try Prompter(password, password, password, password, password)
      // The item is new, so the search finds nothing locked. Only the creation meets the lock.
      try storage.setPassword("another", for: .password(service: "service", account: "another"))
      try storage.lock()
      try storage.setPassword("other", for: .password(service: "service", account: "account"))
      #expect(try self.password(storage) == "other")
      try storage.lock()
      // An addition that finds a locked item looks at its lock, although it changes nothing.
      let known = ItemKey.password(service: "service", account: "account")
      expectError(.itemAlreadyExists) {
        try storage.save(SecureItem(key: known, secret: Secret("lost")), mode: .add)
      }
      try storage.lock()
      #expect(try storage.remove(.password(service: "service", account: "another")))
      try storage.lock()
      #expect(try storage.removeItems(matching: .service("service")) == 1)
      #expect(try prompter.finish() == 5)
    }
  }

  @Test func `an unanswered prompt ends by its own deadline`() throws {
    try withLockedCollection { storage, label in
      let prompter = try Prompter(.wait, .password(PasswordCollection.password))
      let hasty = SecretServiceStorage(
        options: .init(collection: .named(label), promptTimeout: .milliseconds(300)))
      let start = ContinuousClock.now
      expectError(.timedOut) { try password(hasty) }
      #expect(ContinuousClock.now - start < .seconds(10))
      _ = try prompter.finish()
      // The provider still works, and asks again.
      let second = try Prompter(.password(PasswordCollection.password))
      #expect(try password(storage) == "s3cret")
      _ = try second.finish()
    }
  }

  @Test(arguments: [StorageContract.collectionsAreApart])
  func `collections keep the contract if the prompts are confirmed`(rule: StorageContract) throws {
    try Prompter.agreeing { try rule.verify(SecretServiceStorage()) }
  }

  @Test func `no collection is created if the prompt is dismissed`() throws {
    let label = PrivateSession.newService()
    let prompter = try Prompter(.dismiss)
    let error = expectError(.userCanceled) {
      try SecretServiceStorage().createCollection(labeled: label)
    }
    #expect(error?.operation == .createCollection)
    _ = try prompter.finish()
    #expect(try !SecretServiceStorage().collections().contains { $0.label == label })
    expectError(.locked) {
      try SecretServiceStorage(interaction: .never).createCollection(labeled: label)
    }
  }

  @Test func `cancellation gives up a prompt and leaves the keyring alive`() async throws {
    let collection = try PasswordCollection()
    let storage = SecretServiceStorage(collection: .named(collection.label))
    let key = ItemKey.password(service: "service", account: "account")
    try await storage.setPassword("s3cret", for: key)
    try await storage.lock()
    var endedInTime = false
    for _ in 0..<5 where !endedInTime {
      let prompter = try Prompter(.wait)
      endedInTime = try await endsWhenCanceled(after: prompter.waitForPrompt) {
        _ = try await storage.password(for: key)
      }
      _ = try prompter.finish()
    }
    #expect(endedInTime)
    #expect(try await storage.isLocked())
    try collection.delete()
  }
}
#endif
