// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
internal import KeyringStorage
internal import Synchronization

/// The observers of a file, and the watcher that wakes them.
final class FileObservers: Sendable {
  let list = ObserverList()
  private let watcher = Mutex<FileWatcher?>(nil)
  /// The conditions for seeing every change.
  private let visibility = Mutex((isReadable: true, isWatched: true))

  /// Collects one event when changes begin to go unnoticed, and once when they no longer do.
  ///
  /// Changes go unnoticed if the file can't be read or can't be watched.
  func report(isReadable: Bool, isWatched: Bool? = nil) {
    let (before, now) = visibility.withLock { visibility in
      let before = visibility
      visibility = (isReadable, isWatched ?? visibility.isWatched)
      return (before.isReadable && before.isWatched, visibility.isReadable && visibility.isWatched)
    }
    if before != now { list.collect(now ? .resumed : .interrupted) }
  }

  /// Watches a file from now on.
  ///
  /// Watching continues after the last observer is gone: the system has few watchers (128 per user), and
  /// takes tens of milliseconds to release one.
  func watch(
    _ place: FileLocation, _ onEvent: @escaping @Sendable (_ isWatched: Bool) -> Void
  ) throws(FileFailure) {
    try watcher.withLock { (watcher) throws(FileFailure) in
      if watcher == nil {
        watcher = try FileWatcher(place.path, while: { [list] in !list.isEmpty }, onEvent)
      }
    }
  }
}
#endif
