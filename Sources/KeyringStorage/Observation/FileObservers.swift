// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
package import KeyringRuntime
internal import Synchronization

/// The observers of a file or a directory, and the watcher that wakes them.
package final class FileObservers: Sendable {
  /// The observers.
  package let list = ObserverList()
  private let watcher = Mutex<FileWatcher?>(nil)

  // The two sources of interruptions
  private static let (reading, watching) = (0, 1)

  /// Creates an empty list without a watcher.
  package init() {}

  /// Whether changes go unnoticed.
  package var isInterrupted: Bool { list.isInterrupted }

  /// Collects one event when changes begin to go unnoticed, and once when they no longer do.
  ///
  /// Changes of a file that can't be read, or can't be watched, go unnoticed.
  ///
  /// - Parameters:
  ///   - isReadable: `true` if the file can be read.
  ///   - isWatched: `true` if the file is watched, or `nil` if it's the same as before.
  package func report(isReadable: Bool, isWatched: Bool? = nil) {
    let hasChanged = list.changeInterruptions { sources in
      let isWatched = isWatched ?? !sources.contains(Self.watching)
      sources = Set((isReadable ? [] : [Self.reading]) + (isWatched ? [] : [Self.watching]))
    }
    if hasChanged { watcher.withLock { $0 }?.adjust() }
  }

  /// Watches from now on.
  ///
  /// Watching continues after the last observer is gone: the system has few watchers (128 per user), and
  /// takes tens of milliseconds to release one.
  ///
  /// - Parameter start: A closure that creates the watcher, unless there is one.
  /// - Throws: The failure to watch the file.
  package func watch(_ start: () throws(FileFailure) -> FileWatcher) throws(FileFailure) {
    try watcher.withLock { (watcher) throws(FileFailure) in
      if watcher == nil { watcher = try start() }
    }
  }

  /// Adds an observer until its subscription ends.
  ///
  /// The path may lead elsewhere since the last observer has left, so the watcher looks at once.
  ///
  /// - Parameter observer: The closure to call with every event.
  /// - Returns: The subscription.
  package func add(
    _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) -> StorageSubscription {
    let subscription = list.add(observer)
    watcher.withLock { $0 }?.renew()
    return subscription
  }

  /// Releases the watcher if nobody observes, after an observation couldn't begin.
  ///
  /// No observation may begin at the same time.
  package func releaseUnneededWatcher() {
    guard list.isEmpty else { return }
    watcher.withLock { $0 = nil }
    list.changeInterruptions { $0 = [] }
  }
}
#endif
