// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

/// Prompts of every method, and all the ways in which they fail.
@Suite(.withOwnKeyring) struct PromptFaultTests {
  /// A use of a storage that the provider answers with a prompt.
  enum Question: String, CaseIterable, CustomTestStringConvertible {
    case createItem = "CreateItem"
    case delete = "Delete"
    case lock = "Lock"
    case unlock = "Unlock"
    /// A read that finds a locked item.
    case unlockToRead

    var method: String { self == .unlockToRead ? "Unlock" : rawValue }

    var use: StorageUse {
      switch self {
      case .createItem: .add
      case .delete: .remove
      case .lock: .lock
      case .unlock: .unlock
      case .unlockToRead: .read
      }
    }

    var needsLock: Bool { method == "Unlock" }
    var testDescription: String { rawValue }
  }

  private let bus: PrivateBus
  private let service: FakeService

  init() throws { (bus, service) = try PrivateBus.with { try FakeService(on: $0) } }

  private func prepare(_ question: Question, _ outcome: FakeService.Fault.Outcome) throws {
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    if question.needsLock { try service.lock() }
    try service.fault(question.method, .prompt(outcome))
  }

  private func expectNothingDone(_ question: Question) throws {
    try service.reset()
    #expect(try bus.storage().isLocked() == question.needsLock)
    #expect(try bus.storage().password(for: StorageUse.key) == "s3cret")
    #expect(try bus.storage().items(matching: .service("service")).count == 1)
  }

  @Test(arguments: Question.allCases)
  func `an accepted prompt lets the use succeed`(question: Question) throws {
    try prepare(question, .accept)
    let storage = bus.storage()
    try question.use(storage)
    try service.reset()
    #expect(try storage.isLocked() == (question == .lock))
    let count = question == .delete ? 0 : question == .createItem ? 2 : 1
    #expect(try storage.items(matching: .service("service")).count == count)
  }

  @Test(arguments: Question.allCases)
  func `a dismissed prompt is an error and changes nothing`(question: Question) throws {
    try prepare(question, .dismiss)
    question.use.expectFailure(
      .userCanceled, bus.storage(), recoverySuggestion: "answer the prompt")
    try expectNothingDone(question)
  }

  @Test(
    .tags(.slow), arguments: Question.allCases,
    [
      (nil, .timedOut, "prompt wasn't answered"), (.mute, .timedOut, ""),
      (.error("org.example.Error.Odd"), .locked, "as the test wants it"),
    ] as [(FakeService.Fault?, SecureStorageError.Code, String)])
  func `a prompt that isn't answered or shown is an error and changes nothing`(
    question: Question, failure: (fault: FakeService.Fault?, code: SecureStorageError.Code, String)
  ) throws {
    try prepare(question, failure.fault == nil ? .mute : .accept)
    if let fault = failure.fault { try service.fault("Prompt", fault) }
    // The prompt has its own deadline. The one for the provider's answers is far away.
    let timeout = Duration.milliseconds(failure.code == .timedOut ? 200 : 25_000)
    question.use.expectFailure(
      failure.code, bus.storage(promptTimeout: timeout), cause: failure.2)
    try expectNothingDone(question)
  }

  @Test(arguments: Question.allCases)
  func `a prompt that is not allowed is an error and changes nothing`(question: Question) throws {
    try prepare(question, .accept)
    question.use.expectFailure(
      .locked, bus.storage(.never), recoverySuggestion: "allow this program to show prompts")
    try expectNothingDone(question)
  }

  @Test(
    arguments: [
      (Question.createItem, FakeService.Fault.Outcome.type, SecureStorageError.Code.other),
      (.createItem, .none, .other), (.unlock, .type, .locked),
    ])
  func `a result of another type or without an object is an error and changes nothing`(
    question: Question, outcome: FakeService.Fault.Outcome, code: SecureStorageError.Code
  ) throws {
    try prepare(question, outcome)
    question.use.expectFailure(code, bus.storage())
    try expectNothingDone(question)
  }

  @Test(arguments: Question.allCases)
  func `a use fails if the provider dies during the prompt`(question: Question) async throws {
    try await expectConnectionLost(question) { try service.end() }
  }

  @Test(.tags(.slow), arguments: Question.allCases)
  func `a use fails if the bus dies during the prompt`(question: Question) async throws {
    try await expectConnectionLost(question) { try bus.kill() }
  }

  private func expectConnectionLost(_ question: Question, by end: () throws -> Void) async throws {
    try prepare(question, .mute)
    let storage = bus.storage()
    let use = Task.detached { question.use.expectFailure(.connectionLost, storage) }
    try await service.waitForCall(of: "Prompt")
    try end()
    _ = await use.value
  }

  @Test func `a call with more time asks again if the prompt that it shares times out`()
    async throws
  {
    try prepare(.unlock, .mute)
    let short = bus.storage(promptTimeout: .seconds(2))
    let first = Task.detached { StorageUse.unlock.expectFailure(.timedOut, short) }
    try await service.waitForCall(of: "Prompt")
    // The next prompt gets an answer.
    try service.fault("Unlock", .prompt(.accept))
    let long = bus.storage()
    try await long.unlock()
    _ = await first.value
    #expect(try !({ () throws in try long.isLocked() })())
  }

  // MARK: - gnome-keyring, which leaves its prompts to another program

  @Test func `a use fails if no program shows the prompt`() throws {
    let (bus, keyring) = try lockedKeyring()
    for use in StorageUse.allCases where use != .lock && use != .find {
      use.expectFailure(.locked, bus.storage(), cause: "no program shows its prompt")
    }
    try keyring.kill()
  }

  @Test func `a read fails if the program that shows the prompt dies`() async throws {
    let (bus, keyring) = try lockedKeyring()
    let prompter = try Prompter(.wait, on: bus)
    let storage = bus.storage()
    let use = Task.detached { StorageUse.read.expectFailure(.locked, storage) }
    try await prompter.waitForPrompt()
    _ = try prompter.finish()
    _ = await use.value
    try keyring.kill()
  }

  @Test func `a read fails if the keyring dies during the prompt`() async throws {
    let (bus, keyring) = try lockedKeyring()
    let prompter = try Prompter(.wait, on: bus)
    let storage = bus.storage()
    let use = Task.detached { StorageUse.read.expectFailure(.connectionLost, storage) }
    try await prompter.waitForPrompt()
    try keyring.kill()
    _ = await use.value
    _ = try prompter.finish()
  }

  private func lockedKeyring() throws -> (PrivateBus, GnomeKeyring) {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    try bus.storage().lock()
    return (bus, keyring)
  }
}
#endif
