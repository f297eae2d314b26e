// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import KeyringPlatform
package import Synchronization

/// The main loop of a program: that of its windows, or the one that `dispatchMain` begins.
package enum MainLoop {
  /// The waits of synchronous operations that the loop had to wait for, too.
  @usableFromInline static let waits = Atomic(0)
  private static let lastWait = Atomic<Int64>(0)

  /// The length of the shortest such wait, in microseconds.
  package static let shortestWait = Atomic<Int64>(1_000_000)

  /// The number of times that the loop had to wait.
  ///
  /// Only a thread that serves the loop changes it.
  @inlinable package static var waitCount: Int { waits.load(ordering: .relaxed) }

  /// The last wait of the loop, or `nil` on a thread that doesn't serve it.
  package static var lastWaitHere: Duration? {
    isServedHere ? .microseconds(lastWait.load(ordering: .relaxed)) : nil
  }

  /// Counts the wait of an operation that has ended on this thread.
  static func count(waitOf microseconds: Int64) {
    guard microseconds > shortestWait.load(ordering: .relaxed), isServedHere else { return }
    lastWait.store(microseconds, ordering: .relaxed)
    waits.add(1, ordering: .relaxed)
  }

  /// `true` on a thread that serves the loop.
  ///
  /// Dispatch runs the tasks of an asynchronous `main` in the way in which it runs blocks after `dispatchMain`, and a
  /// command-line tool may have such tasks.
  private static var isServedHere: Bool {
    if Platform.servesWindows { return true }
    // After `dispatchMain`, any thread serves the queue except the main thread.
    return !Platform.isMainThread && DispatchQueue.getSpecific(key: ofMainQueue) != nil
      && withUnsafeCurrentTask { $0 == nil }
  }

  private static let ofMainQueue = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
  }()
}
