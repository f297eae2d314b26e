// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Dispatch
internal import Synchronization

/// A watcher that calls a closure whenever something may have happened to a file, or to the files of a directory, until
/// it's released.
///
/// It also looks at the file each second on a file system that doesn't report every change, and each minute on any
/// other: a directory further up may be renamed, or a symbolic link in the path may lead elsewhere.
///
/// The class is Sendable: any thread may cancel a Dispatch source.
package final class FileWatcher: @unchecked Sendable {
  private let queue = DispatchQueue(label: "swift-keyring file")
  private let events: any DispatchSourceRead
  private let timer: any DispatchSourceTimer
  /// The closure that looks at the file.
  private let look: @Sendable () -> Void
  /// The closure that returns the time between two looks, if someone needs them.
  private let interval: @Sendable () -> Duration?
  private let currentInterval = Mutex<Duration?>(.zero)

  /// Creates a watcher with a closure that gets whether the file is watched.
  ///
  /// A file whose directory is missing is unwatched.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - interval: The time between two looks at the file, or `nil` for the one that suits the file system.
  ///   - isNeeded: A closure that returns whether someone needs these looks. Call ``renew()`` after that has
  ///     changed.
  ///   - onEvent: The closure, which is called by one thread at a time.
  /// - Throws: The failure to watch the file.
  package convenience init(
    _ path: String, every interval: Duration? = nil,
    while isNeeded: @escaping @Sendable () -> Bool = { true },
    _ onEvent: @escaping @Sendable (_ isWatched: Bool) -> Void
  ) throws(FileFailure) {
    let directory = Directory(of: path)
    let watch = try Self.watch(directory, for: path)
    let interval = interval ?? .seconds(directory.reportsChanges ? 60 : 1)
    let lastSeen = Mutex(try? FileIdentity(at: path))
    let hasNews: @Sendable () -> Bool = {
      let identity = try? FileIdentity(at: path)
      return lastSeen.withLock { exchange(&$0, with: identity) } != identity
    }
    self.init(watch, every: { interval }, while: isNeeded, if: hasNews, onEvent)
  }

  /// Creates a watcher of all files in a directory.
  ///
  /// - Parameters:
  ///   - path: The path of the directory.
  ///   - interval: A closure that returns the time between two looks. It's called after each of them.
  ///   - isNeeded: A closure that returns whether someone needs these looks. Call ``renew()`` after that has
  ///     changed.
  ///   - onEvent: The closure, which is called by one thread at a time, also for each look.
  /// - Throws: The failure to watch the directory.
  package convenience init(
    directory path: String, every interval: @escaping @Sendable () -> Duration,
    while isNeeded: @escaping @Sendable () -> Bool,
    _ onEvent: @escaping @Sendable (_ isWatched: Bool) -> Void
  ) throws(FileFailure) {
    let watch = try Self.watch(Directory(of: path + "/"))
    self.init(watch, every: interval, while: isNeeded, if: { true }, onEvent)
  }

  private static func watch(
    _ directory: Directory, for path: String? = nil
  ) throws(FileFailure) -> DirectoryWatch {
    // Dispatch ends the process if it can't have its first source and its first timer.
    do throws(FileFailure) {
      try OpenFile.checkDescriptors(6)
    } catch {
      throw FileFailure("can't be watched", number: error.number)
    }
    return try DirectoryWatch(directory, for: path)
  }

  private init(
    _ watch: DirectoryWatch, every interval: @escaping @Sendable () -> Duration,
    while isNeeded: @escaping @Sendable () -> Bool, if hasNews: @escaping @Sendable () -> Bool,
    _ onEvent: @escaping @Sendable (_ isWatched: Bool) -> Void
  ) {
    self.interval = { isNeeded() ? interval() : nil }
    look = {
      guard isNeeded() else { return }
      watch.watchAgain()
      if hasNews() { onEvent(watch.isInPlace) }
    }
    events = DispatchSource.makeReadSource(fileDescriptor: watch.descriptor, queue: queue)
    timer = DispatchSource.makeTimerSource(queue: queue)
    events.setEventHandler {
      if watch.takeEvents() { onEvent(watch.isInPlace) }
    }
    // The source must not outlive the descriptor.
    events.setCancelHandler { withExtendedLifetime(watch) {} }
    timer.setEventHandler { [weak self] in self?.lookAgain() }
    setTimer()
    events.activate()
    timer.activate()
  }

  /// Looks at once, and from now on, for somebody who has begun to need it.
  package func renew() {
    queue.async { [weak self] in self?.lookAgain() }
  }

  private func lookAgain() {
    look()
    setTimer()
  }

  /// Asks for the time between two looks, after what it depends on has changed.
  package func adjust() {
    queue.async { [weak self] in self?.setTimer() }
  }

  private func setTimer() {
    let interval = interval()
    if currentInterval.withLock({ exchange(&$0, with: interval) }) == interval { return }
    guard let interval else { return timer.schedule(deadline: .distantFuture) }
    let seconds = interval / .seconds(1)
    timer.schedule(
      deadline: .now() + seconds, repeating: seconds,
      leeway: .milliseconds(Int(seconds * 100)))
  }

  deinit {
    events.cancel()
    timer.cancel()
  }
}
#endif
