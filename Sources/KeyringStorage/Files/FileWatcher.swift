// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Dispatch
internal import Synchronization

/// A watcher that calls a closure whenever something may have happened to a file, until it's released.
///
/// It also looks at the file each second on a file system that doesn't report every change, and each minute on any
/// other: a directory further up may be renamed, or a symbolic link in the path may lead elsewhere.
///
/// The class is Sendable because a Dispatch source can be cancelled from any thread.
package final class FileWatcher: @unchecked Sendable {
  private let events: any DispatchSourceRead
  private let timer: any DispatchSourceTimer
  private let lastSeen: Mutex<FileIdentity?>

  /// Creates a watcher with a closure that gets whether the file is watched.
  ///
  /// Without its directory, the file isn't watched.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - interval: The time between two looks at the file, or `nil` for the one that suits the file system.
  ///   - isNeeded: A closure that returns `false` as long as nobody needs these looks.
  ///   - onEvent: The closure, which is called by one thread at a time.
  /// - Throws: `FileFailure` if the file can't be watched.
  package init(
    _ path: String, every interval: Duration? = nil,
    while isNeeded: @escaping @Sendable () -> Bool = { true },
    _ onEvent: @escaping @Sendable (_ isWatched: Bool) -> Void
  ) throws(FileFailure) {
    let directory = Directory(of: path)
    let watch = try DirectoryWatch(directory, for: path)
    let queue = DispatchQueue(label: "swift-keyring file")
    events = DispatchSource.makeReadSource(fileDescriptor: watch.descriptor, queue: queue)
    lastSeen = Mutex(try? FileIdentity(at: path))
    timer = DispatchSource.makeTimerSource(queue: queue)
    events.setEventHandler {
      if watch.takeEvents() { onEvent(watch.isInPlace) }
    }
    // The source must not outlive the descriptor.
    events.setCancelHandler { withExtendedLifetime(watch) {} }
    timer.setEventHandler { [weak self] in
      guard isNeeded() else { return }
      watch.watchAgain()
      let identity = try? FileIdentity(at: path)
      let last = self?.lastSeen.withLock { exchange(&$0, with: identity) }
      if identity != last { onEvent(watch.isInPlace) }
    }
    let seconds = (interval ?? .seconds(directory.reportsChanges ? 60 : 1)) / .seconds(1)
    timer.schedule(
      deadline: .now() + seconds, repeating: seconds,
      leeway: .milliseconds(Int(seconds * 100)))
    events.activate()
    timer.activate()
  }

  deinit {
    events.cancel()
    timer.cancel()
  }
}
#endif
