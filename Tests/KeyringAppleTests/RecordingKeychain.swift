// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import AppleKeychainModel
import KeyringApple
import StandInKeychain
import Synchronization

/// A keychain that records the calls, and does something before one of them.
final class RecordingKeychain: KeychainCalls {
  enum Function { case add, copyMatching, update, delete, status }

  private let calls = Mutex<[(function: Function, query: KeychainDictionary)]>([])
  private let interruption: Mutex<(@Sendable () -> Void)?>
  private let interrupted: (function: Function, entry: KeychainEntry?)
  private let base: StandInKeychain
  /// `true` for a keychain that returns nothing with a new item.
  private let isTaciturn: Bool

  /// Creates a keychain.
  ///
  /// - Parameters:
  ///   - device: The device.
  ///   - program: The program that calls.
  ///   - function: The function before which the closure runs.
  ///   - entry: An entry that the call must have for it, or `nil` for any call.
  ///   - isTaciturn: `true` for a keychain that returns nothing with a new item.
  ///   - interruption: A closure that runs once, after the storage has decided to make the call.
  init(
    _ device: KeychainModel, _ program: Caller = Caller(), before function: Function = .update,
    of entry: KeychainEntry? = nil, isTaciturn: Bool = false,
    interruption: (@Sendable () -> Void)? = nil
  ) {
    self.isTaciturn = isTaciturn
    base = StandInKeychain(device, program)
    interrupted = (function, entry)
    self.interruption = Mutex(interruption)
  }

  var functions: [Function] { calls.withLock { $0.map(\.function) } }
  var queries: [KeychainDictionary] { calls.withLock { $0.map(\.query) } }

  func add(_ attributes: KeychainDictionary) -> KeychainResult {
    record(.add, attributes)
    let result = base.add(attributes)
    return isTaciturn ? KeychainResult(status: result.status) : result
  }

  func copyMatching(_ query: KeychainDictionary) -> KeychainResult {
    record(.copyMatching, query)
    return base.copyMatching(query)
  }

  func update(_ query: KeychainDictionary, _ changes: KeychainDictionary) -> Int32 {
    record(.update, query)
    return base.update(query, changes)
  }

  func delete(_ query: KeychainDictionary) -> Int32 {
    record(.delete, query)
    return base.delete(query)
  }

  func status() -> Int32 {
    record(.status, [:])
    return base.status()
  }

  func message(for status: Int32) -> String? { base.message(for: status) }

  private func record(_ function: Function, _ query: KeychainDictionary) {
    calls.withLock { $0.append((function, query)) }
    guard function == interrupted.function,
      interrupted.entry.map({ query[$0] != nil }) ?? true
    else { return }
    interruption.withLock { exchange(&$0, with: nil) }?()
  }
}
#endif
