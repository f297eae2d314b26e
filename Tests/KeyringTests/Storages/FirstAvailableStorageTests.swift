// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Keyring
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

/// A choice among storages, some of which are not available.
@Suite struct FirstAvailableStorageTests {
  private let first = FaultyStorage()
  private let second = FaultyStorage()
  private let key = ItemKey.password(service: "service", account: "account")

  private var storage: FirstAvailableStorage { FirstAvailableStorage([first, second]) }

  // Other tests of the contract are enough with a sanitizer.
  @Test(
    .tags(.slow, .unsanitized), arguments: StorageContract.cases(for: FirstAvailableStorage.self))
  func `the chosen storage keeps the contract`(rule: StorageContract) throws {
    first.fail(.read, with: .noSessionBus)
    try rule.verify(storage)
    try rule.verify(FirstAvailableStorage([second]))
  }

  @Test(arguments: Set.skipReasons)
  func `a storage that is not available is passed over`(code: SecureStorageError.Code) throws {
    first.fail(.read, with: code)
    let storage = storage
    try storage.setPassword("s3cret", for: key)
    #expect(second.count(of: .save) == 1 && first.count(of: .save) == 0)
    let selection = try storage.selection()
    #expect(selection.index == 1 && selection.skipped.map(\.failure?.code) == [code])
    #expect(selection.storage as? FaultyStorage === second)
    #expect("\(selection)" == "InMemoryStorage, as InMemoryStorage has \(code)")
  }

  @Test func `the limit is that of the chosen storage`() throws {
    let small = SmallStorage()
    let storage = FirstAvailableStorage([small, second])
    #expect(storage.secretByteLimit == second.secretByteLimit && storage.durability == .temporary)
    #expect(try storage.selection().index == 0 && storage.secretByteLimit == 1)
    #expect(storage.durability == small.durability)
  }

  @Test func `tests don't reach the storage of the machine`() {
    for prefersFile in [true, false] {
      let storage = FirstAvailableStorage.automatic(prefersFile: prefersFile, named: "app")
      expectError(.noStorage) { try storage.exists(key) }
    }
  }

  @Test func `the storage is chosen once`() throws {
    first.fail(.read, with: .noProvider)
    let storage = storage
    let copy = storage
    try storage.setPassword("s3cret", for: key)
    first.reset()
    first.forgetCalls()
    #expect(try copy.password(for: key) == "s3cret")
    second.fail(.read, with: .noProvider)
    expectError(.noProvider) { try copy.password(for: key) }
    #expect(first.calls.isEmpty)
  }

  @Test func `choosing a storage writes nothing`() throws {
    _ = try storage.selection()
    #expect(first.count(of: .save) == 0 && second.calls.isEmpty)
  }

  @Test func `a locked storage is available`() throws {
    let locked = InMemoryStorage()
    try locked.lock()
    let storage = FirstAvailableStorage([locked, second])
    for body: () throws -> Void in [
      { try storage.setPassword("s3cret", for: key) }, { _ = try storage.password(for: key) },
      { try storage.remove(key) }, { _ = try storage.items(for: [key], details: .all) },
    ] {
      let error = expectError(.locked) { try body() }
      #expect(error?.backendName == "InMemoryStorage")
    }
    #expect(try storage.selection().index == 0 && second.calls.isEmpty)
    try locked.unlock()
    try storage.setPassword("s3cret", for: key)
    #expect(try locked.password(for: key) == "s3cret")
  }

  @Test func `a storage whose prompt was dismissed is available`() throws {
    first.fail(.read, with: .userCanceled)
    let storage = storage
    expectError(.userCanceled) { try storage.password(for: key) }
    #expect(try storage.selection().index == 0 && second.calls.isEmpty)
  }

  @Test(arguments: [
    SecureStorageError.Code.timedOut, .canceled, .connectionLost, .other, .ambiguous,
    .accessDenied, .keyNotFound, .wrongKey, .damaged, .providerFailed, .selectedStorageMissing,
    .init(rawValue: "anotherMakers"),
  ])
  func `an inconclusive error leaves the choice open`(code: SecureStorageError.Code) throws {
    first.fail(.read, with: code)
    let storage = storage
    let error = expectError(code) { try storage.setPassword("s3cret", for: key) }
    #expect(error?.operation == .save && second.calls.isEmpty)
    #expect(storage.diagnose().failure?.code == code)
    first.reset()
    try storage.setPassword("s3cret", for: key)
    #expect(first.count(of: .save) == 1 && second.count(of: .save) == 0)
  }

  @Test func `the error names the reason of each storage if none is available`() throws {
    first.fail(.read, with: .noProvider)
    second.fail(.read, with: .noSessionBus)
    let storage = storage
    let error = expectError(.noStorage) { try storage.password(for: key) }
    #expect(error?.backendName == "FirstAvailableStorage")
    #expect(error?.message.contains("provides a keyring") == true)
    #expect(error?.message.contains("no D-Bus session bus") == true)
    #expect(error?.recoverySuggestion?.contains("dbus-run-session") == true)
    // A keyring that was started since then is available.
    first.reset()
    #expect(try storage.password(for: key) == nil)
    #expect(storage.backendName == "InMemoryStorage")
    expectError(.noStorage) { try FirstAvailableStorage([]).selection() }
  }

  @Test func `an error names the chosen storage and the reason for it`() throws {
    first.fail(.read, with: .noProvider)
    let storage = storage
    #expect(storage.backendName == "FirstAvailableStorage")
    _ = try storage.selection()
    second.fail(.save, with: .accessDenied)
    let error = expectError(.accessDenied) { try storage.setPassword("s3cret", for: key) }
    #expect(error?.backendName == storage.backendName)
    #expect(error?.description.contains("as InMemoryStorage has noProvider") == true)
  }

  @Test func `threads that choose at the same time choose the same storage`() throws {
    for _ in 0..<20 {
      let storage = FirstAvailableStorage([FlickeringStorage(callers: 8), second])
      let chosen = Mutex<[Int]>([])
      let group = DispatchGroup()
      for number in 0..<8 {
        // Each call has its own thread, because all of them wait for the last one.
        DispatchQueue(label: "\(number)").async(group: group) {
          let index = Result { () throws(SecureStorageError) in try storage.selection().index }
          chosen.withLock { $0.append((try? index.get()) ?? -1) }
        }
      }
      group.wait()
      #expect(try chosen.withLock { $0 } == Array(repeating: storage.selection().index, count: 8))
    }
  }

  @Test func `a cancelled selection chooses nothing`() async throws {
    let gate = first.suspend(.read)
    let storage = storage
    let key = key
    let task = Task { try await storage.setPassword("s3cret", for: key) }
    await gate.waitForCall()
    task.cancel()
    await expectError(.canceled) { try await task.value }
    first.reset()
    #expect(storage.backendName == "FirstAvailableStorage")
    try await storage.setPassword("s3cret", for: key)
    #expect(try await storage.selection().index == 0)
  }

  @Test func `a read-only storage is chosen if it has something to read`() throws {
    let directory = TemporaryDirectory()
    try directory.write("s3cret", "account")
    for path in [directory.path, directory.path + "/nonexistent"] {
      let given = CredentialsDirectoryStorage(service: "service", directory: path)
      let storage = FirstAvailableStorage([given, InMemoryStorage()])
      let isGiven = path == directory.path
      #expect(try storage.password(for: key) == (isGiven ? "s3cret" : nil))
      let saving = Result { try storage.setPassword("new", for: key) }
      if isGiven {
        expectError(.readOnly) { try saving.get() }
      } else {
        try saving.get()
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `the changes are those of the chosen storage`() async throws {
    let base = InMemoryStorage()
    first.fail(.read, with: .noProvider)
    var changes = try await FirstAvailableStorage([first, base]).changes().makeAsyncIterator()
    try await base.setPassword("s3cret", for: key)
    #expect(await changes.next() == .created(key))
    let silent = SilentStorage()
    await expectError(.notObservable) { try await FirstAvailableStorage([silent]).changes() }
  }

  @Test func `a diagnosis covers all storages`() throws {
    first.fail(.read, with: .noProvider)
    let storage = storage
    let diagnosis = storage.diagnose()
    #expect(diagnosis.failure == nil)
    #expect(diagnosis.findings.map(\.state) == [.failure, .ok, .notice])
    #expect(diagnosis.findings.last?.text.contains("as InMemoryStorage has noProvider") == true)
    // A diagnosis doesn't choose a storage.
    first.reset()
    #expect(try storage.selection().index == 0)
    second.fail(.save, with: .locked)
    #expect(storage.diagnose(writing: true).failure == nil)
    first.fail(.save, with: .locked)
    #expect(storage.diagnose(writing: true).failure?.code == .locked)
    first.reset()
    for faulty in [first, second] { faulty.fail(.read, with: .noProvider) }
    #expect(storage.diagnose().failure?.code == .noProvider)
    #expect(FirstAvailableStorage([first, second]).diagnose().failure?.code == .noStorage)
  }
}

/// A storage that is available to every other caller, like a keyring that is starting.
///
/// It answers when all callers have asked.
private final class FlickeringStorage: BlockingStorage, EmptyStorage {
  private let callers: Int
  private let count = Mutex(0)
  private let allHaveAsked = DispatchSemaphore(value: 0)

  init(callers: Int) { self.callers = callers }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    let number = count.withLock { count in
      count += 1
      return count
    }
    if number == callers { allHaveAsked.signal() }
    allHaveAsked.wait()
    allHaveAsked.signal()
    if number % 2 == 0 { return [] }
    throw error(.noProvider, during: .read)
  }
}

private struct SmallStorage: BlockingStorage, EmptyStorage {
  var secretByteLimit: Int { 1 }
}
