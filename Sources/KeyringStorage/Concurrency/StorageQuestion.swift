// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
internal import Synchronization

/// A question to the user that an operation asks, and whose answer helps the others.
///
/// An awaited operation first tries to do without it. Failing that, it's repeated on a thread on which no
/// other storage depends, and which may wait for the user. The others try again when it has ended.
package final class StorageQuestion: Sendable {
  /// The operation that asks, or is about to.
  private let current = Mutex<SharedOutcome<Void>?>(nil)

  @TaskLocal private static var mayWait = true
  private static let isNeeded = SecureStorageError.Code(rawValue: "questionIsNeeded")

  package init() {}

  /// Makes an awaited operation begin again on a thread that may wait for the user.
  ///
  /// Call this before each question, and before anything is changed.
  ///
  /// - Throws: An error that the operation must pass on, on a thread that may not wait.
  package static func begin() throws(SecureStorageError) {
    if mayWait { return }
    throw SecureStorageError(isNeeded, operation: .read, backendName: "StorageQuestion")
  }

  /// Returns `true` for the error of an operation that begins again.
  package static func isNeeded(for error: SecureStorageError) -> Bool { error.code == isNeeded }

  func run<Result: Sendable>(
    isAsking: Bool, orThrow canceled: SecureStorageError,
    _ body: @escaping @Sendable () throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    while true {
      if !isAsking, let result = try await attempt(orThrow: canceled, body) { return result }
      let (own, other) = current.withLock { current in
        let new = SharedOutcome<Void>()
        if let current { return (nil as SharedOutcome<Void>?, current) }
        current = new
        return (new, new)
      }
      if let own {
        defer {
          current.withLock { $0 = nil }
          own.settle(())
        }
        return try await BlockingPool.run(on: .ofQuestions, orThrow: canceled) {
          () throws(SecureStorageError) in
          // Another storage may have called this one without being allowed to ask by itself.
          try Self.$mayWait.withValue(true) { Swift.Result(catching: body) }.get()
        }
      }
      guard await other.wait(until: nil) == .ended else { throw canceled }
    }
  }

  /// Returns the result of an operation, or `nil` for one that has to ask.
  private func attempt<Result: Sendable>(
    orThrow canceled: SecureStorageError,
    _ body: @escaping @Sendable () throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result? {
    do throws(SecureStorageError) {
      return try await BlockingPool.run(orThrow: canceled) { () throws(SecureStorageError) in
        try Self.$mayWait.withValue(false) { Swift.Result(catching: body) }.get()
      }
    } catch {
      if error.code == Self.isNeeded { return nil }
      throw error
    }
  }
}
