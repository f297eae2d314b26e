#if SecretService && os(Linux)
import Foundation
import Testing

/// A provider that misbehaves as it is told: `Tests/Fixtures/fake-service.py`.
final class FakeService {
  enum Fault: CustomStringConvertible {
    /// Never answers.
    case mute
    /// Answers after that many seconds.
    case late(Double)
    /// Answers with the error of that name.
    case error(String)
    /// Answers with a value of another type.
    case type
    /// Leaves the bus without an answer.
    case leave
    /// Does it, once, and the bus says that the answer was lost.
    case lost
    /// Answers with a prompt, which ends like this.
    case prompt(Outcome)

    enum Outcome: String { case accept, dismiss, mute, type }

    var description: String {
      switch self {
      case .mute: "mute"
      case .late(let seconds): "late \(seconds)"
      case .error(let name): "error \(name)"
      case .type: "type"
      case .leave: "leave"
      case .lost: "lost"
      case .prompt(let outcome): "prompt \(outcome.rawValue)"
      }
    }
  }

  private let bus: PrivateBus
  private var program: Program
  /// The names it has taken, and takes again when it is restarted.
  private var names: [String] = []

  /// Starts the provider, and waits until it owns its name.
  init(on bus: PrivateBus) throws {
    self.bus = bus
    program = try Self.start(on: bus)
  }

  private static func start(on bus: PrivateBus) throws -> Program {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Fixtures/fake-service.py").path
    let program = try Program("/usr/bin/python3", ["-I", script], environment: bus.environment)
    try #require(program.readLine() == "ready", "the fake service did not start")
    return program
  }

  deinit { _ = try? end() }

  /// From now on the method has the fault.
  func fault(_ method: String, _ fault: Fault) throws { try order("fault \(method) \(fault)") }

  /// No method has a fault any more.
  func reset() throws { try order("reset") }

  func lock() throws { try order("lock") }
  func unlock() throws { try order("unlock") }

  /// What the provider does with what is locked.
  enum Hiding: String, CaseIterable {
    /// Lists it, and refuses the rest.
    case none
    /// Finds nothing in it, and creates an item there with a prompt that unlocks it.
    case items
    /// Lists it with empty secrets, and loses what is written.
    case secrets
    /// Refuses to search it.
    case search
    /// Has no such collection.
    case collection
    /// Has another default collection after every call.
    case `default`
    /// Has locked each item by itself, until it is unlocked by its path.
    case each
  }

  func hide(_ hiding: Hiding) throws { try order("hide \(hiding.rawValue)") }

  /// Refuses to read secrets if one of the items is gone.
  func refuseGoneItems() throws { try order("strict") }

  /// Prints no more what is called, so that nobody has to read it.
  func quiet() throws { try order("quiet") }

  /// Makes a second collection.
  func makeSecondCollection() throws { try order("second") }

  /// The default collection is the next one from now on.
  func moveDefault() throws { try order("move") }

  /// Another item with the same attributes appears just before the next one is created.
  func addRival(_ secret: String) throws { try order("rival \(secret)") }

  /// The secret that was written last is empty, as after a death before it was written.
  func forgetLastSecret() throws { try order("forget") }

  /// Sends no signal for a secret that was set.
  func sendNoSignalForSecrets() throws { try order("unheard") }

  /// Each item is removed when somebody asks for its properties, and the answer still has its label.
  func wither() throws { try order("wither") }

  /// Each item is replaced by another when somebody asks for its properties.
  func churn() throws { try order("churn") }

  /// Has another key for the next sessions than their callers.
  func makeSessionsUnusable(count: Int) throws { try order("unusable \(count)") }

  /// The items have been there for some time.
  func age(seconds: Int) throws { try order("age \(seconds)") }

  /// How often each method was called since this was asked the last time.
  func takeCalls() throws -> [String: Int] {
    try order("age 0")
    defer { calls = [:] }
    return calls
  }

  private var calls: [String: Int] = [:]

  /// Passes for a provider that is known by this name.
  func takeName(_ name: String) throws {
    names.append(name)
    try order("name \(name)")
  }

  /// The items take each other's paths.
  func swap() throws { try order("swap") }

  enum Alias: String { case none, stale }

  /// What the alias of the default collection stands for, until one is made.
  func alias(_ alias: Alias) throws { try order("alias \(alias.rawValue)") }

  private func order(_ line: String) throws {
    try program.writeLine(line)
    while true {
      let answer = try program.readLine()
      if answer == "ok" { return }
      try #require(answer.hasPrefix("called "), "the fake service has died")
      calls[String(answer.dropFirst(7)), default: 0] += 1
    }
  }

  /// Waits until the method is called.
  func waitForCall(of method: String) async throws {
    while true {
      let line = try await program.nextLine()
      if line == "called \(method)" { return }
      try #require(!line.isEmpty, "the fake service has died")
    }
  }

  func end() throws { try program.end() }

  /// Ends the provider and starts another, without items or faults.
  func restart() throws {
    try end()
    program = try Self.start(on: bus)
    for name in names { try order("name \(name)") }
  }
}
#endif
