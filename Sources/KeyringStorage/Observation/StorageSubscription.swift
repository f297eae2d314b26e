// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A subscription to the events of a storage, which ends when you call ``cancel()`` or release it.
///
/// ```swift
/// let subscription = try storage.observe(nil) { event in print(event) }
/// subscription.cancel()
/// ```
public final class StorageSubscription: Sendable {
  private let onEnd: Mutex<(@Sendable () -> Void)?>

  /// Creates a subscription for a storage to return.
  ///
  /// ```swift
  /// return StorageSubscription { connection.stop() }
  /// ```
  ///
  /// - Parameter onEnd: A closure that is called once, when the subscription ends.
  public init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = Mutex(onEnd) }

  deinit { cancel() }

  /// Ends the subscription.
  ///
  /// A call of the observer may still be running on another thread. Events that wait for a call are dropped.
  public func cancel() {
    let onEnd = onEnd.withLock { exchange(&$0, with: nil) }
    onEnd?()
  }
}
