#if EncryptedFile
internal import KeyringStorage

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// How long an operation waits for others: for a time, or until it is cancelled.
struct Patience {
  private let end: ContinuousClock.Instant
  private let cancellation = CancellationSignal.current

  init(_ timeout: Duration) {
    end = .now + min(timeout, .seconds(1 << 30))
  }

  /// Refuses to go on when the operation was cancelled.
  func check() throws(SecureStorageError) {
    if cancellation?.isCancelled == true { throw failure(.canceled) }
  }

  /// Tries something until it succeeds.
  ///
  /// There is no waiting for a lock of another process that could be ended from here; so it is tried
  /// every millisecond, which is less than a write takes.
  func wait<Result>(
    for attempt: () throws(SecureStorageError) -> Result?
  ) throws(SecureStorageError) -> Result {
    while true {
      try check()
      if let result = try attempt() { return result }
      if ContinuousClock.now >= end { throw failure(.timedOut) }
      var pause = timespec(tv_sec: 0, tv_nsec: .random(in: 500_000..<1_500_000))
      nanosleep(&pause, nil)
    }
  }

  private func failure(_ code: SecureStorageError.Code) -> SecureStorageError {
    SecureStorageError(
      code, operation: .read, backend: "\(EncryptedFileStorage.self)",
      message: code == .timedOut ? "Another writer of the file did not finish in time." : nil,
      advice: code == .timedOut ? "Look for a process that hangs, and try again." : nil)
  }
}
#endif
