#if EncryptedFile
internal import KeyringStorage
internal import Synchronization

/// One thread at a time; the others wait until it is done, or they are cancelled: a person who is
/// asked takes the time that it takes.
final class Turn: Sendable {
  private let isTaken = Mutex(false)

  func take<Result>(
    _ body: () throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    try Patience(nil).wait {
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
