// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
internal import Synchronization

/// The turn in whose closure the current task is.
///
/// A second one could wait for the first, in this process or through another one.
package final class CurrentTurn: Sendable {
  @TaskLocal private static var value: CurrentTurn?

  private let isOver = Atomic(false)

  private init() {}

  /// Whether the current task is in the closure of a turn.
  ///
  /// A task that was started there and outlives the turn isn't.
  package static var isTaken: Bool { value.map { !$0.isOver.load(ordering: .acquiring) } ?? false }

  /// Runs the closure of a turn.
  static nonisolated(nonsending) func run<Value, Failure: Error>(
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let turn = CurrentTurn()
    defer { turn.isOver.store(true, ordering: .releasing) }
    return try await $value.withValue(turn) { await Result(body) }.get()
  }
}

extension ItemTurn {
  /// Runs a closure in a task that's cancelled if the turn is lost, or with the current task.
  func run<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
  ) async throws -> Value {
    var outcome: Result<Value, any Error>?
    await withoutActuallyEscaping(body) { body in
      let call = BorrowedCall { outcome = await Result(body) }
      let task = Task(executorPreference: ThreadExecutor.ofCurrentTask) {
        // The closure stays in the actor of the caller.
        _ = isolation
        await call.run()
      }
      whenLost(
        KeyringEvent.inheritingLogger {
          KeyringEvent.report(.turnLost)
          task.cancel()
        })
      await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }
    }
    guard let outcome else { preconditionFailure("a task ends with an outcome") }
    return try outcome.get()
  }
}
