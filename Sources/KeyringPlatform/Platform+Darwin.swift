// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
@_exported public import Darwin
internal import Dispatch
// Only Foundation has `Bundle`. On these platforms, it belongs to the system.
internal import Foundation

extension Platform {
  /// `true` if the program has more rights than the caller, who has chosen its environment.
  package static var hasMoreRightsThanCaller: Bool { issetugid() != 0 }

  /// The variables of the environment, the last of which `nil` follows.
  package static var environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    unsafe _NSGetEnviron().pointee
  }

  /// The identifier of the app's bundle, if any.
  package static var bundleIdentifier: String? { Bundle.main.bundleIdentifier }

  /// A clock that always goes forward, is read quickly, and is up to 10 ms behind.
  @inlinable package static var coarseClock: clockid_t { CLOCK_MONOTONIC }

  /// The harmless signals of this system alone.
  package static var harmlessSignals: [Int32] { [SIGIO, SIGINFO] }

  /// Overwrites memory with zeros that the optimizer keeps.
  @inlinable package static func zeroize(_ baseAddress: UnsafeMutableRawPointer, _ count: Int) {
    unsafe memset_s(baseAddress, count, 0, count)
  }
}

// MARK: - Files

extension Platform {
  /// The flags of open(2) for a directory on the way to a file, listable or not.
  package static var passing: Int32 { O_DIRECTORY | O_NOFOLLOW }

  /// The command of fcntl(2) that locks bytes for an open file (F_OFD_SETLK), which old SDKs leave out.
  package static var lockBytes: Int32 { 90 }

  /// The command of fcntl(2) that waits to lock bytes for an open file (F_OFD_SETLKW).
  package static var waitToLockBytes: Int32 { 91 }
}

extension stat {
  /// The time of the last change of the content.
  package var modification: timespec { st_mtimespec }

  /// The time of the last change of the content or of the status.
  package var change: timespec { st_ctimespec }
}

// MARK: - Threads

extension Platform {
  /// The value of a variable before pthread_create(3) sets it.
  package static var newThread: pthread_t? { nil }

  package static var isMainThread: Bool { pthread_main_np() != 0 }

  /// `true` on the thread that serves the windows of the program, outside of a task.
  ///
  /// The tasks of an asynchronous `main` run in this loop, too.
  package static var servesWindows: Bool {
    isMainThread && CFRunLoopCopyCurrentMode(CFRunLoopGetMain()) != nil
      && unsafe withUnsafeCurrentTask { unsafe $0 == nil }
  }

  /// Gives the current thread a name of at most 15 bytes.
  package static func nameThread(_ name: String) { unsafe pthread_setname_np(name) }
}

/// A signal that ends the current wait for it, or the next one.
package final class ThreadSignal: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  package init() {}

  /// Waits for the signal, or for a moment in microseconds of the monotonic clock.
  package func wait(until moment: Int64?) {
    let end = moment.map { DispatchTime(uptimeNanoseconds: UInt64(max(0, $0)) * 1000) }
    _ = semaphore.wait(timeout: end ?? .distantFuture)
  }

  /// Ends the current wait, or the next one.
  package func send() { semaphore.signal() }
}
#endif
