#if EncryptedFile && os(Linux)
internal import KeyringStorage
internal import Synchronization

/// Those who observe a file, and what wakes them.
final class FileObservers: Sendable {
  private let observers = StorageObservers()
  private let watcher = Mutex<FileWatcher?>(nil)
  private let isInterrupted = Mutex(false)

  var isEmpty: Bool { observers.isEmpty }

  func report(_ event: StorageEvent) { observers.report(event) }

  /// Says that the file cannot be read, or can be again; once each.
  func report(isInterrupted: Bool) {
    let hasChanged = self.isInterrupted.withLock { wasInterrupted in
      defer { wasInterrupted = isInterrupted }
      return wasInterrupted != isInterrupted
    }
    if hasChanged { report(isInterrupted ? .interrupted : .resumed) }
  }

  /// Watches a file from now on.
  ///
  /// Also when nobody observes any more: the system has few watchers (128 for each user), and takes
  /// tens of milliseconds to give one back.
  func watch(
    _ place: FilePlace, _ onEvent: @escaping @Sendable () -> Void
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
