// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

internal import KeyringPlatform

/// The turns to change the items of a file.
///
/// The callers of this process form a queue for each item. The first one locks the item's byte. If another program has
/// locked it, a thread waits for the lock, because nothing else is told of its end.
final class FileTurns: Sendable {
  private typealias Outcome = Result<TurnLock?, SecureStorageError>

  /// The first caller in the queue of an item, which waits for the lock.
  private final class Caller: Sendable {
    let waiter: Waiter
    let outcome = Mutex<Outcome?>(nil)

    init(_ waiter: Waiter) { self.waiter = waiter }
  }

  let queue = KeyQueue()
  private let place: FileLocation
  private let timeout: Duration
  /// The callers for which threads wait, one for each item.
  ///
  /// A caller that gave up stays until the next one takes its place, or the lock is free.
  private let callers = Mutex<[ItemKey: Caller]>([:])

  init(_ place: FileLocation, _ timeout: Duration) {
    (self.place, self.timeout) = (place, timeout)
  }

  /// Returns `true` while a thread waits for the lock of an item.
  func isWaiting(for key: ItemKey) -> Bool { callers.withLock { $0[key] != nil } }

  /// Locks the byte of an item, or returns `nil` if it's locked.
  func lock(_ key: ItemKey) throws(SecureStorageError) -> TurnLock? {
    try place.check()
    do throws(FileFailure) {
      try place.directory.make()
      // The turn is of no use to those who can't store anything.
      if let obstacle = place.writingObstacle { throw obstacle }
    } catch {
      throw SecureStorageError(place, error)
    }
    let result = try FileDeadline(timeout).wait { () throws(SecureStorageError) in
      try attempt(key, waiting: false)
    }
    if case .locked(let lock) = result { return lock }
    return nil
  }

  private enum Attempt {
    case locked(TurnLock)
    /// The byte is locked by others.
    case refused
  }

  /// Tries to lock the byte of an item, or returns `nil` to be called again, for example if the file was removed.
  private func attempt(
    _ key: ItemKey, waiting isWaiting: Bool
  ) throws(SecureStorageError) -> Attempt? {
    do throws(FileFailure) {
      guard let file = try TurnsFile(beside: place) else { return nil }
      guard let lock = try TurnLock(key, in: file, waiting: isWaiting) else { return .refused }
      return try lock.isHeld() ? .locked(lock) : nil
    } catch {
      var failure = SecureStorageError(
        place,
        FileFailure(
          "has a file of turns, \(place.turnsPath), that \(error.problem)", number: error.number,
          kind: error.kind))
      // A system or a file system can lack these locks.
      if [EINVAL, ENOLCK, EOPNOTSUPP, ENOSYS].contains(error.number) {
        failure.code = .accessDenied
      }
      throw failure
    }
  }

  /// Waits until a thread has locked the byte of an item.
  ///
  /// Call this for the first caller in the item's queue.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock.
  /// - Returns: The outcome of the wait, and after `.ended` the lock, or `nil` to try again.
  /// - Throws: The failure to lock it.
  nonisolated(nonsending) func waitForLock(
    of key: ItemKey, until moment: Int64
  ) async throws(SecureStorageError) -> (Waiter.Outcome, TurnLock?) {
    var caller: Caller?
    let wait = await Waiter.wait(until: moment) { waiter in
      let new = Caller(waiter)
      caller = new
      let isFirst = callers.withLock { $0.updateValue(new, forKey: key) == nil }
      guard isFirst else { return }
      let shortage = ThreadExecutor.startThread(named: "swift-keyring l") { self.serve(key) }
      if let shortage {
        callers.withLock { $0[key] = nil }
        waiter.end(.failed(shortage))
      }
    }
    return (wait, try caller?.outcome.withLock { $0 }?.get())
  }

  /// Waits for the lock of an item, and hands it to the caller that is the first one then.
  ///
  /// If none wants it any more, others can lock the byte at once.
  private func serve(_ key: ItemKey) {
    let outcome = Outcome { () throws(SecureStorageError) in
      if case .locked(let lock) = try attempt(key, waiting: true) { lock } else { nil }
    }
    guard let caller = callers.withLock({ $0.removeValue(forKey: key) }) else { return }
    caller.outcome.withLock { $0 = outcome }
    if !caller.waiter.end() { caller.outcome.withLock { $0 = nil } }
  }

  /// Returns the number of the process whose turn it is, or `nil` for one that can't be seen.
  func holder(of key: ItemKey) -> Int32? { (try? TurnsFile(beside: place))?.holder(of: key) }
}
#endif
