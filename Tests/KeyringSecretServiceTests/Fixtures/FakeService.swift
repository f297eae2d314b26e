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
  private let names: [String]
  private var program: Program

  /// Starts the provider, and waits until it owns its name, and those given.
  init(on bus: PrivateBus, names: String...) throws {
    self.bus = bus
    self.names = names
    program = try Self.start(on: bus, names)
  }

  private static func start(on bus: PrivateBus, _ names: [String]) throws -> Program {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Fixtures/fake-service.py").path
    let program = try Program(
      "/usr/bin/python3", ["-I", script] + names, environment: bus.environment)
    try #require(program.readLine() == "ready", "the fake service did not start")
    return program
  }

  deinit { _ = try? end() }

  /// From now on the method has the fault.
  func fault(_ method: String, _ fault: Fault) throws { try order("fault \(method) \(fault)") }

  /// No method has a fault any more.
  func mend() throws { try order("mend") }

  func lock() throws { try order("lock") }

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
    program = try Self.start(on: bus, names)
  }
}
#endif
