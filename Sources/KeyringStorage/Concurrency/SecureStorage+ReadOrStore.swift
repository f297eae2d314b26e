// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime

// Values that a program generates at its first start. Several programs that start at the same moment, and find none,
// each generate one. An addition decides which of them is stored, and the others read that one.

extension SecureStorage {
  /// Reads the value stored under a key, or stores a new one.
  // Disfavored, because an `await` would select it if the closure doesn't suspend.
  @_disfavoredOverload
  package func readOrStore<Value>(
    _ key: ItemKey, as coding: ItemCoding<Value>,
    _ generate: () throws(SecureStorageError) -> Value
  ) throws(SecureStorageError) -> Value {
    var new: (item: SecureItem, value: Value)?
    var attempts = Attempts()
    while true {
      if let value = try value(for: key, as: coding) { return value }
      if attempts.mustWait {
        let wait = ThreadExecutor.runToEnd { await attempts.wait() }
        if let wait { throw error(wait, during: .save, Attempts.reason) }
      }
      if new == nil { new = try newItem(for: key, as: coding, generate()) }
      guard let new else { continue }
      do throws(SecureStorageError) {
        try save(new.item, mode: .add)
        return new.value
      } catch {
        guard error.code == .itemAlreadyExists else { throw error }
      }
    }
  }

  /// Reads the value stored under a key, or stores a new one, suspending the task.
  package nonisolated(nonsending) func readOrStore<Value>(
    _ key: ItemKey, as coding: ItemCoding<Value>,
    _ generate: () async throws(SecureStorageError) -> Value
  ) async throws(SecureStorageError) -> Value {
    var new: (item: SecureItem, value: Value)?
    var attempts = Attempts()
    while true {
      if let value = try await value(for: key, as: coding) { return value }
      if attempts.mustWait, let wait = await attempts.wait() {
        throw error(wait, during: .save, Attempts.reason)
      }
      if new == nil { new = try newItem(for: key, as: coding, try await generate()) }
      guard let new else { continue }
      do throws(SecureStorageError) {
        try await saveWithoutBlocking(new.item, mode: .add)
        return new.value
      } catch {
        guard error.code == .itemAlreadyExists else { throw error }
      }
    }
  }

  /// Returns an item for a value, and the value as others read it from that item.
  private func newItem<Value>(
    for key: ItemKey, as coding: ItemCoding<Value>, _ value: Value
  ) throws(SecureStorageError) -> (item: SecureItem, value: Value) {
    let item = try item(for: key, as: coding, value)
    return (item, try coding.value(of: item, from: backendName))
  }
}

/// The attempts to add an item that others add and remove at the same time.
///
/// In a storage whose "create if absent" isn't atomic, two processes may both find the other's item and
/// remove their own.
private struct Attempts {
  static let reason = "Other programs kept adding and removing the same item."
  private static let longestTime = Duration.seconds(30)
  private static let longestPause = 256

  private var count = 0
  private var end = Int64.max

  /// Counts an attempt, and returns `true` from the second one on.
  var mustWait: Bool {
    mutating get {
      count += 1
      if count == 1 { end = .now(plus: Self.longestTime) }
      return count > 1
    }
  }

  /// Waits for a random time, which gets longer with each attempt, so that one of several processes comes first.
  ///
  /// - Returns: The reason to give up, or `nil` to try again.
  nonisolated(nonsending) func wait() async -> Waiter.Outcome? {
    if ThreadExecutor.now >= end { return .timedOut }
    let longest = min(1 << min(count, 16), Self.longestPause)
    let pause = Duration.milliseconds(Int.random(in: 0...longest))
    return await Waiter.wait(until: .now(plus: pause)) { _ in } == .canceled ? .canceled : nil
  }
}
