// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Foundation
package import KeyringStorage
internal import Synchronization
internal import Testing

/// Programs that keep the same tokens valid while they are killed and stopped.
///
/// The server takes each refresh token once. A program that is killed after it has sent its token, and before it has
/// stored the answer, is the one death that no turn can mend: the next one sends the same token again.
package final class RefreshTrial: Sendable {
  /// The state of a program, as it announces it.
  private enum Phase: String, CaseIterable {
    /// It has found valid tokens, or has stored new ones.
    case valid
    /// It has found old tokens.
    case waiting
    /// It has its turn.
    case inside
    /// It's about to send its token.
    case sending
    /// It has the server's answer, which isn't stored yet.
    case answered

    /// Whether a death now may lose an answer of the server.
    var isCritical: Bool { self == .sending || self == .answered }
  }

  private final class Worker: Sendable {
    let name: String
    let program: Program

    init(_ number: Int, _ arguments: [String]) throws {
      name = "w\(number)"
      program = try Program(
        Program.workerPath, arguments + [name, number.isMultiple(of: 2) ? "async" : "blocking"])
    }
  }

  private struct State {
    /// The last announcement of each worker that runs.
    var phases: [String: (phase: Phase, token: Int)] = [:]
    var ended: Set<String> = []
    /// The last valid token of each worker.
    var newest: [String: Int] = [:]
    var stores = 0
    var events: [[String]] = []
    var faults: [String] = []
  }

  /// The counts of a trial.
  package struct Outcome: CustomStringConvertible {
    package var grants = 0
    package var kills = 0
    /// The number of those between the token sent and the answer stored.
    package var criticalKills = 0
    package var stops = 0
    /// The tokens that programs had sent when they were killed, and whose answer they hadn't stored.
    package var criticalTokens: Set<Int> = []
    /// The number of those that the server had seen before and took for theft.
    package var signOuts = 0
    /// The number of those that the server answered again.
    package var graces = 0
    /// The longest time between a kill and the next new tokens.
    package var slowestRecovery = Duration.zero
    /// The events that must not happen.
    package var faults: [String] = []

    package var description: String {
      """
      \(grants) refreshes, \(kills) kills, \(criticalKills) of them between the token sent and the answer \
      stored, \(stops) stops: \(signOuts) sign-outs, \(graces) answers again, next one after at most \(slowestRecovery)
      """
    }
  }

  /// The number of refreshes in a test: 50, or the number that `Scripts/stress` sets.
  package static let refreshes =
    ProcessInfo.processInfo.environment["KEYRING_TEST_REFRESHES"].flatMap(Int.init) ?? 50

  /// Whether `Scripts/stress` runs the test.
  package static let isLong = refreshes > 50

  private let directory = TemporaryDirectory()
  private let arguments: [String]
  private let server: Program
  private let state = Mutex(State())
  private let arrival = DispatchSemaphore(value: 0)
  private let workers = Mutex<[Worker]>([])
  private let lastNumber = Atomic(0)

  /// Starts a server, and stores its first token.
  ///
  /// - Parameters:
  ///   - storage: The storage.
  ///   - name: The name that the worker has for the storage.
  ///   - service: The service of the item.
  ///   - grace: The seconds in which a token that comes again gets the same answer.
  /// - Throws: An error if the server can't be started, or of the storage.
  package init(
    of storage: any SecureStorage, named name: String, service: String = "service", grace: Int = 0
  ) throws {
    // The token has expired long ago.
    let first = SecureItem(
      key: .value(service: service, account: "tokens"),
      secret: Secret(#"{"expires":0,"refresh":1}"#))
    try storage.save(first, mode: .add)
    let socket = directory.path("server")
    server = try Program.script("token-server.py", [socket, "20", "\(grace)"])
    arguments = ["refresh", name, service, socket]
    try #require(server.readLine() == "ready")
    Thread { [server, weak self] in
      while let line = try? server.readLine(patience: -1) {
        self?.change { $0.events.append(line.split(separator: " ").map(String.init)) }
      }
    }.start()
  }

  // MARK: - Announcements

  private func change(_ body: (inout State) -> Void) {
    state.withLock { body(&$0) }
    arrival.signal()
  }

  /// Waits until the state has something, for a minute.
  private func wait<Value: Sendable>(
    for event: String, _ body: (borrowing State) -> Value?
  ) throws -> Value {
    let end = DispatchTime.now() + 60
    repeat {
      if let value = state.withLock({ body($0) }) { return value }
    } while arrival.wait(timeout: end) == .success
    throw Timeout(
      description: "there was no \(event) for a minute: \(state.withLock { $0.phases })")
  }

  private struct Timeout: Error, CustomStringConvertible { let description: String }

  private func startWorker() throws {
    let worker = try Worker(
      lastNumber.add(1, ordering: .relaxed).newValue, arguments)
    workers.withLock { $0.append(worker) }
    Thread { [weak self, worker] in
      while let line = try? worker.program.readLine(patience: -1) {
        self?.take(line.split(separator: " "), from: worker.name)
      }
      self?.change { $0.ended.insert(worker.name) }
    }.start()
  }

  private func take(_ words: [Substring], from worker: String) {
    change { state in
      guard let phase = words.first.flatMap({ Phase(rawValue: String($0)) }) else {
        state.faults.append("\(worker): \(words.joined(separator: " "))")
        return
      }
      let token = words.dropFirst().first.flatMap { Int($0) } ?? 0
      if phase == .valid {
        if state.phases[worker]?.phase == .answered { state.stores += 1 }
        let last = state.newest.updateValue(token, forKey: worker) ?? 0
        if token < last { state.faults.append("\(worker) got \(token) after \(last)") }
      }
      state.phases[worker] = (phase, token)
    }
  }

  // MARK: - The trial

  /// Runs programs until they have refreshed the tokens many times, while they are killed and stopped.
  ///
  /// - Parameters:
  ///   - count: The number of refreshes.
  ///   - longestStop: The longest time for which a program is stopped.
  ///   - disturb: A closure to call now and then, which may end the storage's backend and start it again.
  /// - Returns: The counts.
  /// - Throws: An error if the programs don't go on.
  package func run(
    _ count: Int = refreshes, longestStop: Duration = .milliseconds(50),
    disturb: (() throws -> Void)? = nil
  ) throws -> Outcome {
    var outcome = Outcome()
    for _ in 0..<5 { try startWorker() }
    var actions = 0
    while state.withLock({ $0.stores }) < count {
      actions += 1
      let phase = try #require(Phase.allCases.randomElement())
      let name = try wait(for: "program that is \(phase)") { state in
        state.phases.filter { $0.value.phase == phase }.keys.randomElement()
      }
      if actions.isMultiple(of: 10), let disturb {
        try disturb()
        try waitForStore()
      }
      let worker = try #require(workers.withLock { $0.first { $0.name == name } })
      if Bool.random() {
        outcome.stops += 1
        worker.program.suspend()
        usleep(.random(in: 0..<UInt32(longestStop / .microseconds(1))))
        worker.program.suspend(false)
      } else {
        let start = ContinuousClock.now
        try kill(worker, &outcome)
        try waitForStore()
        outcome.slowestRecovery = max(outcome.slowestRecovery, ContinuousClock.now - start)
        try startWorker()
      }
    }
    try end(&outcome)
    return outcome
  }

  private func waitForStore() throws {
    let before = state.withLock { $0.stores }
    try wait(for: "refresh") { $0.stores > before ? () : nil }
  }

  private func kill(_ worker: Worker, _ outcome: inout Outcome) throws {
    outcome.kills += 1
    worker.program.killAndWait()
    try end(of: worker)
    let last = state.withLock { $0.phases.removeValue(forKey: worker.name) }
    guard let last, last.phase.isCritical else { return }
    outcome.criticalKills += 1
    outcome.criticalTokens.insert(last.token)
  }

  private func end(of worker: Worker) throws {
    try wait(for: "end of \(worker.name)") { $0.ended.contains(worker.name) ? () : nil }
    // Foundation keeps the files of a program until someone has waited for it.
    try worker.program.end()
    workers.withLock { $0.removeAll { $0 === worker } }
  }

  /// Kills the programs, lets another one refresh the tokens once more, and judges what has happened.
  private func end(_ outcome: inout Outcome) throws {
    for worker in workers.withLock({ $0 }) { try kill(worker, &outcome) }
    let start = ContinuousClock.now
    try startWorker()
    try waitForStore()
    outcome.slowestRecovery = max(outcome.slowestRecovery, ContinuousClock.now - start)
    for worker in workers.withLock({ $0 }) {
      try worker.program.closeInput()
      try end(of: worker)
    }
    try server.closeInput()
    judge(&outcome)
  }

  private func judge(_ outcome: inout Outcome) {
    let (events, stores, faults) = state.withLock { ($0.events, $0.stores, $0.faults) }
    outcome.faults += faults
    for event in events {
      let tokens = event.compactMap { Int($0) }
      let isExcused = !outcome.criticalTokens.isDisjoint(with: tokens)
      switch event.first {
      case "grant": outcome.grants += 1
      case "grace" where isExcused: outcome.graces += 1
      case "reuse" where isExcused: outcome.signOuts += 1
      case "overlap" where isExcused: break
      default: outcome.faults.append(event.joined(separator: " "))
      }
    }
    // Only a program that was killed can lose what the server has given it. The next one may be killed with the same token.
    let lost = outcome.grants + outcome.signOuts + outcome.graces - stores
    if !(0...outcome.criticalKills).contains(lost) {
      outcome.faults.append("\(outcome.grants) grants for \(stores) stored answers")
    }
  }
}
#endif
