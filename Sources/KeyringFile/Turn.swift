#if EncryptedFile
internal import KeyringStorage
internal import Synchronization

/// One thread at a time; the others wait as long as their patience lasts.
final class Turn: Sendable {
  private let isTaken = Mutex(false)

  func take<Result>(
    _ patience: Patience, _ body: () throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    try patience.wait {
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
