// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import KeyringRuntime
internal import KeyringStorage

internal import KeyringPlatform

/// The limit of how long an operation waits for others: its deadline, or its cancellation.
struct FileDeadline {
  private let end: Int64

  init(_ timeout: Duration) { end = .now(plus: timeout) }

  /// Throws an error in a cancelled operation.
  static func check() throws(SecureStorageError) {
    if Cancellation.isCurrentCancelled { throw SecureStorageError(.canceled) }
  }

  /// Repeats an attempt up to its success.
  ///
  /// A blocking wait for the lock of another process couldn't be ended from here. The attempt is therefore
  /// repeated about every millisecond, which is less than a write takes.
  ///
  /// No event could take the place of the pause. The system tells nobody that a lock was released. It reports
  /// that a file was closed, but only on the machine of the program that closed it, and after each attempt, too.
  func wait<Result>(
    for attempt: () throws(SecureStorageError) -> Result?
  ) throws(SecureStorageError) -> Result {
    while true {
      try Self.check()
      if let result = try attempt() { return result }
      if ThreadExecutor.now >= end {
        throw SecureStorageError(
          .timedOut, "Another process didn't finish writing the file in time.",
          recoverySuggestion: "Look for a process that hangs, and end it.")
      }
      var pause = timespec(tv_sec: 0, tv_nsec: .random(in: 500_000..<1_500_000))
      nanosleep(&pause, nil)
    }
  }
}
#endif
