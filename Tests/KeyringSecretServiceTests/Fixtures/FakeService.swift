// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

/// A provider that misbehaves as a test orders it to: `Tests/Fixtures/fake-service.py`.
final class FakeService {
  struct Fault: Equatable {
    /// The fault as `fake-service.py` knows it.
    fileprivate let words: String

    /// Never answers.
    static let mute = Fault(words: "mute")
    /// Answers after that many seconds.
    static func late(_ seconds: Double) -> Fault { Fault(words: "late \(seconds)") }
    /// Answers when the test calls ``FakeService/release()``.
    static let held = Fault(words: "held")
    /// Answers with the error that has this name, and possibly this text.
    static func error(_ name: String, _ text: String = "") -> Fault {
      Fault(words: "error \(name)" + (text.isEmpty ? "" : " \(text)"))
    }
    /// Answers one call with the error that has this name.
    static func once(_ name: String) -> Fault { Fault(words: "once \(name)") }
    /// Locks all collections before it answers one call.
    static let lock = Fault(words: "lock")
    /// Answers with a value of another type.
    static let type = Fault(words: "type")
    /// Leaves the bus without an answer.
    static let leave = Fault(words: "leave")
    /// Leaves the bus after the answer.
    static let last = Fault(words: "last")
    /// Performs one call, and answers with the bus's error for a lost answer.
    static let lost = Fault(words: "lost")
    /// Answers with a prompt that has this outcome.
    static func prompt(_ outcome: Outcome) -> Fault { Fault(words: "prompt \(outcome)") }

    enum Outcome { case accept, dismiss, mute, type, none }
  }

  private let bus: PrivateBus
  /// The behaviors of the provider.
  let modes: [Mode]
  /// The disk of the provider, or `nil` if it forgets everything at a restart.
  let disk: Disk?
  private var program: Program
  /// The names that the provider has taken, and takes again after a restart.
  private var names: [String] = []

  /// Starts the provider, and waits until it owns its name.
  ///
  /// - Parameters:
  ///   - bus: The bus.
  ///   - modes: The behaviors that it has from the first message on.
  ///   - disk: The disk, with what an earlier start has left there.
  ///   - later: The name that the provider takes just before it answers the first message.
  /// - Throws: An error if the provider doesn't start.
  init(
    on bus: PrivateBus, modes: [Mode] = [], disk: Disk? = nil, takingLater later: String? = nil
  ) throws {
    self.bus = bus
    self.modes = modes
    self.disk = disk
    program = try Self.start(on: bus, Self.arguments(modes, disk, later))
  }

  private static func start(on bus: PrivateBus, _ arguments: [String]) throws -> Program {
    let program = try Program.script(
      "fake-service.py", arguments, environment: bus.environment)
    try #require(program.readLine() == "ready", "the fake service did not start")
    return program
  }

  private static func arguments(
    _ modes: [Mode], _ disk: Disk?, _ later: String? = nil
  ) -> [String] {
    modes.flatMap { ["--mode", "\($0)"] } + (disk.map { ["--disk", $0.path] } ?? [])
      + (later.map { ["--later", $0] } ?? [])
  }

  /// Returns the command by which a bus starts such a provider for a message.
  ///
  /// - Parameters:
  ///   - modes: The behaviors of the provider.
  ///   - disk: The disk.
  ///   - later: The name that the provider takes just before it answers the first message.
  /// - Returns: The command.
  static func activation(
    modes: [Mode] = [], disk: Disk? = nil, takingLater later: String? = nil
  ) -> String {
    let words = [Program.pathOfScript("fake-service.py")] + arguments(modes, disk, later)
    return "/usr/bin/python3 -I \(words.joined(separator: " ")) org.freedesktop.secrets"
  }

  deinit { _ = try? end() }

  /// Gives a method a fault from now on.
  func fault(_ method: String, _ fault: Fault) throws {
    try order("fault \(method) \(fault.words)")
  }

  /// Sends the answers that were held, and holds no more.
  func release() throws { try order("release") }

  /// Removes the faults of all methods.
  func reset() throws { try order("reset") }

  func lock() throws { try order("lock") }
  func unlock() throws { try order("unlock") }

  /// Locks each item by itself, and not its collection.
  func lockItems() throws { try order("shut") }

  /// The behavior of the provider with locked collections and items.
  enum Hiding: String, CaseIterable {
    /// Lists locked items, and refuses everything else (gnome-keyring 42.1).
    case none
    /// Finds nothing in a locked collection, and creates an item with a prompt that unlocks it (KeePassXC 2.7.4).
    case items
    /// Lists locked items with empty secrets, and loses writes (KWallet 5.103).
    case secrets
    /// Refuses to search a locked collection.
    case search
    /// Doesn't know a collection that is locked.
    case collection
    /// Has another default collection after every call.
    case `default`
    /// Locks each item by itself, until it's unlocked by its path (KeePassXC 2.7.4).
    case each
    /// Does the same, and shows no property of a locked item but its lock (oo7).
    case attributes
  }

  func hide(_ hiding: Hiding) throws { try order("hide \(hiding.rawValue)") }

  /// Refuses to read secrets if one of the items is gone.
  func refuseGoneItems() throws { try order("strict") }

  /// Stops printing the called methods, so that a test doesn't have to read them.
  func quiet() throws { try order("quiet") }

  /// Makes a second collection.
  func makeSecondCollection(named name: String = "second") throws { try order("second \(name)") }

  /// Makes a collection that the alias "session" stands for.
  func makeSessionCollection(named name: String) throws { try order("session \(name)") }

  /// Deletes the default collection, and makes an empty one at its path.
  func renewDefault() throws { try order("renew") }

  /// Makes the next collection the default one.
  func moveDefault() throws { try order("move") }

  /// Gives each new collection this label.
  func relabelCollections(_ label: String) throws { try order("relabel \(label)") }

  /// Adds another item with the same attributes just before the next item is created.
  func addRival(_ secret: String) throws { try order("rival \(secret)") }

  /// Locks everything just after the next item is created.
  func lockAfterCreation() throws { try order("shy") }

  /// Empties the secret that was written last, as if the provider had died before its write.
  func forgetLastSecret() throws { try order("forget") }

  /// Sends no signal for a secret that was set (gnome-keyring 42.1).
  func sendNoSignalForSecrets() throws { try order("unheard") }

  /// Removes each item when a client asks for its properties, and still answers with its label (KWallet 5.103).
  func wither() throws { try order("wither") }

  /// Replaces each item with another when a client asks for its properties.
  func churn() throws { try order("churn") }

  /// Reports success for each unlocking of an item, and unlocks none.
  func unlockNothing() throws { try order("stubborn") }

  /// Stops providing the service, and stays on the bus (KeePassXC 2.7.4).
  func abdicate() throws { try order("abdicate") }

  /// Gives the next sessions another key than their callers have (KWallet 5.103).
  func makeSessionsUnusable(count: Int) throws { try order("unusable \(count)") }

  /// Makes all items older.
  func age(seconds: Int) throws { try order("age \(seconds)") }

  /// Returns the number of calls of each method since the last time.
  func takeCalls() throws -> [String: Int] {
    try order("age 0")
    defer { calls = [:] }
    return calls
  }

  private var calls: [String: Int] = [:]

  /// Takes a name on the bus, so that the provider passes for the one with that name.
  func takeName(_ name: String) throws {
    names.append(name)
    try order("name \(name)")
  }

  /// Adds a copy of each item that was changed later, so the service prefers it.
  func duplicateItems() throws { try order("duplicate") }

  /// Removes the oldest item just before the next item is created.
  func retireOldestItem() throws { try order("retire") }

  /// Makes the items swap their paths.
  func swap() throws { try order("swap") }

  enum Alias: String {
    case none, stale
    /// The alias names a collection that is listed, and that isn't an object (gnome-keyring 48.0 after a first login).
    case unreachable
  }

  /// Changes the alias of the default collection, until a default collection is made.
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

  /// Ends the misbehavior of a provider with the mode ``Mode/hostile(seed:)``.
  ///
  /// - Returns: The misbehaviors in their order.
  /// - Throws: An error if the provider has ended.
  func makeHonest() throws -> [String] {
    try program.writeLine("honest")
    var misdeeds: [String] = []
    while true {
      let line = try program.readLine()
      if line == "ok" { return misdeeds }
      try #require(line.hasPrefix("did "), "the fake service has died")
      misdeeds.append(String(line.dropFirst(4)))
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

  /// In the mode `gap`, makes the next replacement last until a search was answered in its gap.
  func waitInGap() throws { try order("part") }

  func end() throws { try program.end() }

  func suspend(_ isSuspended: Bool = true) { program.suspend(isSuspended) }

  /// Ends the provider and starts another, without faults, and with the items of the disk.
  func restart() throws {
    // It writes what is late.
    if disk != nil { try order("sync") }
    try kill()
  }

  /// Kills the provider and starts another, without faults, and with the items of the disk.
  func kill() throws {
    try end()
    program = try Self.start(on: bus, Self.arguments(modes, disk))
    for name in names { try order("name \(name)") }
  }
}
#endif
