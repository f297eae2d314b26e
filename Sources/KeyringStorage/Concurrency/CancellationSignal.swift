// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime

/// A signal that tells a storage during a synchronous call that its result is unwanted.
///
/// An `await` on a ``BlockingStorage`` runs the synchronous operation on a thread of the library's thread
/// pool. The operation learns of a cancelled task through ``current``. A storage that waits for something
/// ends the wait and throws `.canceled`.
///
/// ```swift
/// guard let signal = CancellationSignal.current else { return device.wait() }
/// signal.onCancel({ device.stop() }, while: { device.wait() })
/// if signal.isCancelled { throw error(.canceled, during: .read) }
/// ```
public struct CancellationSignal: Sendable {
  private let cancellation: Cancellation

  /// The signal for the current call, or `nil` if no task awaits a storage that blocks.
  public static var current: CancellationSignal? {
    Cancellation.current.map(CancellationSignal.init(cancellation:))
  }

  /// Whether the call was cancelled.
  public var isCancelled: Bool { cancellation.isCancelled }

  /// Calls a handler if the call is cancelled while a closure runs, or at once if it was cancelled before.
  ///
  /// ```swift
  /// signal.onCancel({ device.stop() }, while: { device.wait() })
  /// ```
  ///
  /// - Parameters:
  ///   - handler: The closure to call, at most once and on any thread. Use it to wake a waiting thread.
  ///   - body: The closure to run. The handler is removed when it returns.
  /// - Returns: The result of the body.
  /// - Throws: The error of the body.
  public func onCancel<Result, Failure: Error>(
    _ handler: @escaping @Sendable () -> Void,
    while body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try cancellation.onCancel(handler, while: body)
  }
}
