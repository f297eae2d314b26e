// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Security
import Synchronization

/// A simulated device with both of Apple's keychains, behind the functions of the Security module.
///
/// The functions act on ``current``, as ``caller``. RULES.md lists what it does, with the sources.
public final class KeychainModel: Sendable {
  /// The device that the calls of this task act on.
  ///
  /// Threads that don't belong to a task use the default one.
  @TaskLocal public static var current = KeychainModel()

  /// The program that this task is, when it isn't the device's ``program``.
  @TaskLocal public static var caller: Caller?

  /// As `kSecUseAuthenticationContext`, this string stands for an `LAContext` whose
  /// `interactionNotAllowed` is true.
  ///
  /// Any other value stands for one that interacts.
  public static let nonInteractiveContext = "interaction not allowed"

  private struct State {
    var program = Caller()
    var device = Device()
    var dataProtection = DataProtectionKeychain()
    var file = FileKeychain()
  }

  private let state = Mutex(State())

  /// A device with two empty keychains, no faults, and a program with one access group.
  public init() {}

  /// The switches for what goes wrong.
  public var faults: Faults {
    get { state.withLock { $0.device.faults } }
    set { state.withLock { $0.device.faults = newValue } }
  }

  /// The program that calls, unless the task names another ``caller``.
  public var program: Caller {
    get { state.withLock { $0.program } }
    set { state.withLock { $0.program = newValue } }
  }

  /// The texts the user was asked with.
  public var prompts: [String] { state.withLock { $0.device.prompts } }

  /// All items of data protection, then those of the file.
  public var rows: [Row] { state.withLock { $0.dataProtection.rows + $0.file.rows } }

  /// Makes the items that fulfil a condition impossible to decode.
  public func damage(where condition: (Row) -> Bool) {
    state.withLock { state in
      for index in state.dataProtection.rows.indices
      where condition(state.dataProtection.rows[index]) {
        state.dataProtection.rows[index].isDamaged = true
      }
      for index in state.file.rows.indices where condition(state.file.rows[index]) {
        state.file.rows[index].isDamaged = true
      }
    }
  }

  /// Makes the items of the file trust every program, as `security add-generic-password -A` does.
  public func trustEveryProgram() {
    state.withLock { state in
      for index in state.file.rows.indices { state.file.rows[index].trustsAll = true }
    }
  }

  /// SecKeychain.cpp (SecKeychainGetStatus): the default keychain can be opened.
  func checkFile() throws { try call { _, _ in } }

  /// SecItem.cpp (SecItemAdd): an item has one place, the file if it can be there.
  func add(_ entries: [String: Value]) throws -> Value? {
    try call { state, caller in
      let targets = try Targets(entries, on: caller.platform)
      let translated = Operation.add.translated(
        entries, toDataProtection: !targets.file, on: caller.platform)
      return targets.file
        ? try state.file.add(translated, by: caller, on: &state.device)
        : try state.dataProtection.add(translated, by: caller, on: &state.device)
    }
  }

  /// SecItem.cpp (SecItemCopyMatching).
  func copyMatching(_ entries: [String: Value]) throws -> Value? {
    try perform(.copyMatching, entries) { state, entries, caller in
      try state.dataProtection.copyMatching(entries, by: caller, on: &state.device)
    } file: { entries in
      try call(isFileSearch: true) { try $0.file.copyMatching(entries, by: $1, on: &$0.device) }
    }
  }

  /// SecItem.cpp (SecItemUpdate).
  func update(_ entries: [String: Value], _ changes: [String: Value]) throws {
    // Without the flag, a change of kSecAttrSynchronizable moves items between the keychains.
    let isMove = entries["nleg"] == nil && changes["sync"] != nil
    if isMove, (Self.caller ?? program).platform == .macOS { throw Refusal(errSecUnimplemented) }
    _ = try perform(.update, entries) { state, entries, caller in
      try state.dataProtection.update(entries, changes, by: caller, on: &state.device)
      return nil
    } file: { entries in
      let found = try call(isFileSearch: true) { state, _ in try state.file.search(entries) }
      faults.fileUpdateWindow?()
      try call { try $0.file.update(found, changes, by: $1, on: &$0.device) }
      return nil
    }
  }

  /// SecItem.cpp (SecItemDelete).
  func delete(_ entries: [String: Value]) throws {
    _ = try perform(.delete, entries) { state, entries, caller in
      try state.dataProtection.delete(entries, by: caller, on: &state.device)
      return nil
    } file: { entries in
      let found = try call(isFileSearch: true) { state, _ in try state.file.search(entries) }
      try call { try $0.file.delete(found, by: $1) }
      return nil
    }
  }

  private func perform(
    _ operation: Operation, _ entries: [String: Value],
    dataProtection: (inout State, [String: Value], Caller) throws -> Value?,
    file: ([String: Value]) throws -> Value?
  ) throws -> Value? {
    let platform = (Self.caller ?? program).platform
    func translated(toDataProtection: Bool) -> [String: Value] {
      operation.translated(entries, toDataProtection: toDataProtection, on: platform)
    }
    return try Targets(entries, on: platform).merged {
      try call { try dataProtection(&$0, translated(toDataProtection: true), $1) }
    } file: {
      try file(translated(toDataProtection: false))
    }
  }

  /// SecItem.cpp (SecItemCopyMatching_osx), KCCursor.cpp (next): a file that can't be searched has no items, also for
  /// the searches with which an update and a deletion begin.
  private func call<Result: Sendable>(
    isFileSearch: Bool = false, _ body: (inout State, Caller) throws -> Result
  ) throws -> Result {
    let caller = Self.caller ?? program
    return try state.withLock { state in
      if let failure = state.device.faults.failure {
        throw Refusal(isFileSearch ? errSecItemNotFound : failure)
      }
      return try body(&state, caller)
    }
  }
}
