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
  /// `nil` for no end but being cancelled.
  private let end: ContinuousClock.Instant?

  init(_ timeout: Duration?) {
    end = timeout.map { .now + min($0, .seconds(1 << 30)) }
  }

  /// Refuses to go on when the operation was cancelled.
  static func check() throws(SecureStorageError) {
    if CancellationSignal.isCurrentCancelled { throw failure(.canceled) }
  }

  /// Tries something until it succeeds.
  ///
  /// There is no waiting for a lock of another process that could be ended from here; so it is tried
  /// every millisecond, which is less than a write takes.
  func wait<Result>(
    for attempt: () throws(SecureStorageError) -> Result?
  ) throws(SecureStorageError) -> Result {
    while true {
      try Self.check()
      if let result = try attempt() { return result }
      if let end, ContinuousClock.now >= end { throw Self.failure(.timedOut) }
      var pause = timespec(tv_sec: 0, tv_nsec: .random(in: 500_000..<1_500_000))
      nanosleep(&pause, nil)
    }
  }

  private static func failure(_ code: SecureStorageError.Code) -> SecureStorageError {
    SecureStorageError(
      code, operation: .read, backend: "\(EncryptedFileStorage.self)",
      message: code == .timedOut ? "Another writer of the file did not finish in time." : nil,
      advice: code == .timedOut ? "Look for a process that hangs, and try again." : nil)
  }
}
#endif
