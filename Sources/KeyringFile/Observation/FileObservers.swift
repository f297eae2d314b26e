#if EncryptedFile && os(Linux)
internal import KeyringStorage
internal import Synchronization

/// Those who observe a file, and what wakes them.
final class FileObservers: Sendable {
  private let observers = StorageObservers()
  private let watcher = Mutex<FileWatcher?>(nil)
  private let sight = Mutex(Sight())

  /// What it takes to see every change.
  private struct Sight: Sendable {
    var isReadable = true
    var isWatched = true
  }

  var isEmpty: Bool { observers.isEmpty }

  func report(_ event: StorageEvent) { observers.report(event) }

  /// Says that changes go unnoticed, as the file cannot be read or not be watched, or do so no more;
  /// once each.
  func report(isReadable: Bool, isWatched: Bool? = nil) {
    let (before, now) = sight.withLock { sight in
      let before = sight
      sight = Sight(isReadable: isReadable, isWatched: isWatched ?? sight.isWatched)
      return (before.isReadable && before.isWatched, sight.isReadable && sight.isWatched)
    }
    if before != now { report(now ? .resumed : .interrupted) }
  }

  /// Watches a file from now on.
  ///
  /// Also when nobody observes any more: the system has few watchers (128 for each user), and takes
  /// tens of milliseconds to give one back.
  func watch(
    _ place: FilePlace, _ onEvent: @escaping @Sendable (_ isWatched: Bool) -> Void
  ) throws(FileFailure) {
    try watcher.withLock { (watcher) throws(FileFailure) in
      if watcher == nil { watcher = try FileWatcher(place, onEvent) }
    }
  }

  func add(_ observer: @escaping @Sendable (StorageEvent) -> Void) -> StorageObservation {
    observers.add(observer)
  }
}
#endif
