#if EncryptedFile
internal import KeyringStorage
internal import Synchronization

/// A lock for one thread at a time, with a wait that ends if the operation is cancelled.
///
/// There's no deadline, because a person who is asked for a key can take any amount of time.
final class CancellableLock: Sendable {
  private let isTaken = Mutex(false)

  func take<Result>(
    _ body: () throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    try FileDeadline(nil).wait {
      isTaken.withLock { isTaken -> Void? in
        if isTaken { return nil }
        isTaken = true
        return ()
      }
    }
    defer { isTaken.withLock { $0 = false } }
    return try body()
  }
}
#endif
