// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
internal import KeyringStorage

/// A gate at which the calls of a ``FaultyStorage`` wait until you open it.
///
/// ```swift
/// let gate = storage.suspend(.save)
/// async let saving: Void = settings.$authToken.write("new")
/// await gate.waitForCall()
/// // The app's behavior in the meantime …
/// gate.open()
/// ```
public final class CallGate: Sendable {
  private let arrival = SharedOutcome<Void>()
  private let opening = SharedOutcome<Void>()

  /// Waits until at least one call has arrived.
  public func waitForCall() async {
    // A cancelled task waits, too: otherwise it would go on before the call is there.
    _ = await withoutCancellation { [arrival] in await arrival.wait(until: nil) }
  }

  /// Lets waiting and future calls pass.
  public func open() { opening.settle(()) }

  /// Waits until the gate is open, the call is cancelled, or the time is over.
  func pass(after limit: Duration? = nil) async -> Waiter.Outcome {
    // A call that was cancelled before it came here doesn't count.
    if !Task.isCancelled { arrival.settle(()) }
    return await opening.wait(until: limit.map { .now(plus: $0) })
  }
}
