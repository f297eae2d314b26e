// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringStorage
internal import Synchronization

/// The trial of saving: it replaces the right item, in a single step.
extension ContractTrial {
  func savingReplacesOne() throws {
    let key = password()
    for text in ["first", "second", "third"] {
      try save(text, key)
      try expectStored(text, key, "after saving")
    }
    try save("updated", key, mode: .update)
    try expectStored("updated", key, "after updating")
    let count = try storage.items(matching: .service(service)).count
    try expect(count == 1, "saving one key four times left \(count) items")
  }

  func addRefusesPresent() throws {
    try save("first", password(), mode: .add)
    try expect(.itemAlreadyExists, of: "adding a present item") {
      try save("second", password(), mode: .add)
    }
    try expectStored("first", password(), "after a refused addition")
  }

  func updateRefusesAbsent() throws {
    try expect(.itemNotFound, of: "updating an absent item") {
      try save("first", password(), mode: .update)
    }
    try expect(!storage.exists(password()), "a refused update made an item")
  }

  func typedSavingKeepsTheMode() throws {
    let key = password()
    try storage.setPassword("first", for: key, mode: .add)
    try expect(.itemAlreadyExists, of: "adding a present password") {
      try storage.setPassword("second", for: key, mode: .add)
    }
    try storage.setPassword("second", for: key, mode: .update)
    try expect(storage.password(for: key) == "second", "an updated password is another one")
    try storage.setPassword(nil, for: key)
    try expect(!storage.exists(key), "setting nil did not remove the password")
    try expect(.itemNotFound, of: "updating an absent password") {
      try storage.setPassword("third", for: key, mode: .update)
    }
    let first = Credential(login: "a", password: "b")
    try credential().write(first, mode: .add)
    try expect(.itemAlreadyExists, of: "adding a present credential with another login") {
      try credential().write(Credential(login: "c", password: "d"), mode: .add)
    }
    try expect(credential().read() == first, "a refused addition changed the credential")
  }

  func newLoginLeavesOneItem() throws {
    for number in 1...3 {
      let new = Credential(login: "login \(number)", password: "password \(number)")
      try credential().write(new)
      try expect(credential().read() == new, "after a new login the credential is another one")
      let count = try storage.items(matching: .service(service)).count
      try expect(count == 1, "after a new login there are \(count) items")
    }
  }

  func credentialsAreNeverMixed() throws {
    @Sendable func pair(_ number: Int) -> Credential {
      Credential(login: "login \(number)", password: "login \(number)")
    }
    try credential().write(pair(0))
    let isWriting = Atomic(true)
    let read: @Sendable () throws -> Void = {
      repeat {
        let found = try credential().read()
        try expect(found != nil, "a reader found nothing while the credential was rewritten")
        try expect(
          found?.login == found?.password, "a reader found a login with another's password")
      } while isWriting.load(ordering: .acquiring)
    }
    try Self.concurrently([
      {
        defer { isWriting.store(false, ordering: .releasing) }
        for number in 1...50 { try credential().write(pair(number)) }
      }, read, read,
    ])
  }
}
