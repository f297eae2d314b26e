// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringSecretService

/// A keyring that doesn't list a collection, which may have the item that isn't found.
@Suite(.withOwnKeyring) struct AbsenceTests {
  @Test(.tags(.slow)) func `an item isn't absent if the keyring's file is cut off`() async {
    await #expect(processExitsWith: .success) {
      for size in [0, 10, 40, 60, 100] {
        for logsIn in [false, true] {
          let user = try User()
          try user.storage.setPassword("s3cret", for: StorageUse.key)
          try user.keyring.kill()
          try user.cut("login", to: size)
          try user.keyring.start(unlocked: logsIn)
          user.expectDoubt(.damaged, user.path("login"))
          if logsIn {
            // Each login makes another collection, which is empty.
            try user.keyring.kill()
            try user.keyring.start()
            user.expectDoubt(.damaged, user.path("login"))
          }
          let advice = user.storage.diagnose().description
          #expect(advice.contains("give it a name that doesn't end with \".keyring\""))
          #expect(
            try FileManager.default.attributesOfItem(atPath: user.path("login"))[.size] as? Int
              == size)
          try user.move("login.keyring", to: "login.keyring.damaged")
          if logsIn { #expect(try user.storage.password(for: StorageUse.key) == nil) }
        }
      }
    }
  }

  @Test func `an item isn't absent if the keyring's file came after its start`() async {
    await #expect(processExitsWith: .success) {
      let user = try User()
      try user.storage.setPassword("s3cret", for: StorageUse.key)
      try user.keyring.kill()
      try user.move("login.keyring", to: "kept")
      try user.keyring.start(unlocked: false)
      #expect(try user.storage.password(for: StorageUse.key) == nil)
      try user.move("kept", to: "login.keyring")
      // If a second has passed since the start, the keyring lists the collection, and gives no access to it.
      user.expectDoubt(.noDefaultCollection, "Restart the keyring")
      let advice = user.storage.diagnose().description
      #expect(advice.contains("Restart the keyring"))
      #expect(!advice.contains("backup") && !advice.contains("name that"))
      try user.keyring.kill()
      try user.keyring.start()
      #expect(try user.storage.password(for: StorageUse.key) == "s3cret")
      #expect(user.storage.diagnose().failure == nil)
    }
  }

  @Test func `an item isn't absent if another collection may have been the default one`() async {
    await #expect(processExitsWith: .success) {
      let user = try User()
      try user.storage.setPassword("s3cret", for: StorageUse.key)
      try user.keyring.kill()
      try user.move("login.keyring", to: "work.keyring")
      try user.keyring.start(unlocked: false)
      user.expectDoubt(.noDefaultCollection, "but others: \"Login\"")
      // A save asks the user for a new one.
      try Prompter.agreeing(on: user.bus) {
        try SecretServiceStorage().setPassword("new", for: StorageUse.key)
      }
      #expect(try user.storage.password(for: StorageUse.key) == "new")
      #expect(try user.storage.password(for: .password(service: "service", account: "x")) == nil)
    }
  }

  @Test func `a collection with a label isn't missing if its file is cut off`() async {
    await #expect(processExitsWith: .success) {
      for size in [10, 60] {
        let user = try User()
        let collection = try PasswordCollection(label: "Work", on: user.bus)
        let work = user.storage.collection(labeled: collection.label)
        try work.setPassword("s3cret", for: StorageUse.key)
        try user.keyring.kill()
        try user.cut("Work", to: size)
        try user.keyring.start()
        user.expectDoubt(.damaged, user.path("Work"), in: work)
        // The label is at the start of the file.
        let other = user.storage.collection(labeled: "Other")
        if size == 10 {
          expectError(.damaged) { try other.password(for: StorageUse.key) }
        } else {
          #expect(try other.password(for: StorageUse.key) == nil)
        }
        // The default collection is whole.
        #expect(try user.storage.password(for: StorageUse.key) == nil)
        let diagnosis = user.storage.diagnose()
        #expect(diagnosis.failure == nil && diagnosis.description.contains(user.path("Work")))
      }
    }
  }

  @Test func `a keyring that was never used is empty`() async {
    await #expect(processExitsWith: .success) {
      let user = try User(hasCollection: false)
      let files = user.keyring.home + "/keyrings"
      try FileManager.default.createDirectory(
        atPath: files + "/directory.keyring", withIntermediateDirectories: true)
      for name in ["user.keystore", "login.keyring~", "login.keyring.old", ".login.keyring.swp"] {
        try Data("another file".utf8).write(to: URL(filePath: "\(files)/\(name)"))
      }
      #expect(try user.storage.password(for: StorageUse.key) == nil)
      #expect(try user.storage.items(matching: .service("service")).isEmpty)
      [StorageUse.save, .add].expectFailures(.noDefaultCollection, user.storage)
      expectError(.noDefaultCollection) {
        try user.storage[StorageUse.key].readOrStore { "new" }
      }
      let file = InMemoryStorage()
      let first = FirstAvailableStorage([user.storage, file])
      try first.setPassword("s3cret", for: StorageUse.key)
      #expect(try file.exists(StorageUse.key))
    }
  }

  @Test func `files of another keyring say nothing`() async {
    await #expect(processExitsWith: .success) {
      let user = try User(hasCollection: false)
      let other = try User()
      try other.keyring.kill()
      try other.cut("login", to: 10)
      // The other user's files are seen, and the keyring is on a bus that was given, or on one that is no login's.
      #expect(try user.bus.storage().password(for: StorageUse.key) == nil)
      setenv("DBUS_SESSION_BUS_ADDRESS", user.bus.address, 1)
      #expect(try user.storage.password(for: StorageUse.key) == nil)
    }
  }

  // MARK: - A provider in a given state

  @Test(arguments: [FakeService.Alias.none, .stale])
  func `an item isn't absent if the default collection is missing`(
    alias: FakeService.Alias
  ) throws {
    let (bus, service) = try PrivateBus.with { try FakeService(on: $0) }
    try service.takeName("org.gnome.keyring")
    try service.alias(alias)
    let words = alias == .stale ? "collection/gone doesn't exist" : "but others: \"Only\""
    expectNoAbsence(.noDefaultCollection, words, in: bus.storage(.never))
    expectNoAbsence(.noDefaultCollection, words, in: bus.storage())
  }

  /// gnome-keyring 48.0 is in this state after a user's first login.
  @Test func `a default collection that isn't an object is empty if nothing is found in it`() throws
  {
    let (bus, service) = try PrivateBus.with { try FakeService(on: $0) }
    try service.takeName("org.gnome.keyring")
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    try service.alias(.unreachable)
    expectNoAbsence(.noDefaultCollection, "doesn't give access", in: bus.storage(.never))
    try service.restart()
    try service.alias(.unreachable)
    #expect(try bus.storage(.never).password(for: StorageUse.key) == nil)
    StorageUse.add.expectFailure(.noDefaultCollection, bus.storage(.never))
    #expect(bus.storage(.never).diagnose().description.contains("Log out and in again."))
    // The user agrees to a new default collection.
    try bus.storage().setPassword("new", for: StorageUse.key)
    #expect(try bus.storage().password(for: StorageUse.key) == "new")
  }
}

/// A user whose keyring is that of the session, and whose files the program sees.
private final class User {
  let bus: PrivateBus
  let keyring: GnomeKeyring
  let storage = SecretServiceStorage(interaction: .never)

  init(hasCollection: Bool = true) throws {
    bus = try PrivateBus()
    keyring = try GnomeKeyring(on: bus, hasCollection: hasCollection)
    setenv("XDG_DATA_HOME", keyring.home, 1)
    setenv("DBUS_SESSION_BUS_ADDRESS", bus.address, 1)
    setenv("XDG_RUNTIME_DIR", bus.directory, 1)
  }

  func path(_ name: String) -> String { "\(keyring.home)/keyrings/\(name).keyring" }

  /// Cuts off a file, in which the collection is older than those that are made now.
  func cut(_ name: String, to size: Int) throws {
    let url = URL(filePath: path(name))
    var content = try Data(contentsOf: url)
    // The time of the creation follows the label, whose size is in byte 23.
    content.replaceSubrange((24 + Int(content[23]))..., with: [0, 0, 0, 0, 0, 0, 0, 1])
    content.append(try Data(contentsOf: url).dropFirst(content.count))
    try content.prefix(size).write(to: url)
  }

  func move(_ name: String, to other: String) throws {
    let files = keyring.home + "/keyrings/"
    try FileManager.default.moveItem(atPath: files + name, toPath: files + other)
  }

  /// Expects that nothing says that an item is absent, and that the diagnosis says so, too.
  func expectDoubt(
    _ code: SecureStorageError.Code, _ words: String, in storage: SecretServiceStorage? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    expectNoAbsence(
      code, words, in: storage ?? self.storage, sourceLocation: sourceLocation)
  }
}

private func expectNoAbsence(
  _ code: SecureStorageError.Code, _ words: String, in storage: SecretServiceStorage,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  [StorageUse.read, .find, .remove, .add, .propertyRead].expectFailures(
    code, storage, cause: words, sourceLocation: sourceLocation)
  expectError(code, sourceLocation: sourceLocation) { try storage.exists(StorageUse.key) }
  let memory = InMemoryStorage()
  for storage in [
    storage, LayeredStorage([.reading(storage), .writing(memory)]),
    FirstAvailableStorage([storage, memory]),
  ] as [any SecureStorage] {
    expectError(code, sourceLocation: sourceLocation) {
      try storage[StorageUse.key].readOrStore { "generated" }
    }
  }
  #expect(
    (try? memory.items(matching: .service("service")))?.isEmpty == true,
    sourceLocation: sourceLocation)
  let diagnosis = storage.diagnose()
  #expect(diagnosis.failure?.code == code, "\(diagnosis)", sourceLocation: sourceLocation)
  #expect(diagnosis.description.contains(words), "\(diagnosis)", sourceLocation: sourceLocation)
}
#endif
