// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// The observers of a directory of secrets, and the files that they know of.
final class DirectoryObservers: Sendable {
  private let mapping: ServiceKeyMapping
  private let observers = FileObservers()
  /// The files when the observers were last notified of changes, whose events are collected under this lock.
  private let known = Mutex<SecretsInventory?>(nil)

  init(_ mapping: ServiceKeyMapping) { self.mapping = mapping }

  /// Returns `true` if someone observes the directory, and the system reports each change.
  func seesEachChange(in path: String) -> Bool {
    !observers.list.isEmpty && Self.reportsChanges(path)
  }

  /// The files of which observers were last notified, or `nil` with no observers.
  var files: [String: Int?]? { observers.list.isEmpty ? nil : known.withLock { $0?.files } }

  /// Returns `true` if the system reports each change in a directory.
  ///
  /// It doesn't report that a link to the directory is replaced.
  private static func reportsChanges(_ path: String) -> Bool {
    let directory = Directory(of: path + "/")
    return directory.reportsChanges && !directory.isLink
  }

  func observe(
    _ path: String, failing translate: (FileFailure) -> SecureStorageError,
    _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    defer { observers.list.deliver() }
    let subscription = try known.withLock { (known) throws(SecureStorageError) in
      defer { observers.releaseUnneededWatcher() }
      // Watch first, so that no change is missed after the look.
      try Result { () throws(FileFailure) in try watch(path) }.mapError(translate).get()
      let now = try SecretsDirectory.read(path, failing: translate) {
        (directory) throws(SecureStorageError) in
        try Result { () throws(FileFailure) in try SecretsInventory(directory) }
          .mapError(translate).get()
      }
      if observers.list.isEmpty { known = nil }
      guard keep(now, in: &known) else { throw translate(SecretsDirectory.lost) }
      return observers.add(observer)
    }
    // The storage may be released before the observation ends.
    return StorageSubscription { withExtendedLifetime(self) { subscription.cancel() } }
  }

  private func watch(_ path: String) throws(FileFailure) {
    try observers.watch { [observers] () throws(FileFailure) in
      try FileWatcher(
        directory: path,
        every: { [weak observers] in
          let isBlind = observers?.isInterrupted == true || !Self.reportsChanges(path)
          return .seconds(isBlind ? 1 : 60)
        },
        while: { [weak observers] in observers?.list.isEmpty == false },
        { [weak self] in self?.look(at: path, $0) })
    }
  }

  /// Notifies observers of changes that a read has met before they were notified.
  ///
  /// After the read, a cache holds nothing of another version.
  ///
  /// - Parameters:
  ///   - path: The path of the directory.
  ///   - reads: The hashes of the files that were read; `nil` for missing ones.
  ///   - before: The files that observers had been notified of before the read.
  /// - Throws: `FileFailure` if a file is missing because the directory isn't mounted any more.
  func compare(
    _ path: String, _ reads: [String: Int?], since before: [String: Int?]
  ) throws(FileFailure) {
    if observers.list.isEmpty { return }
    // Another thread may be telling the observers of what this read has met.
    defer { observers.list.deliver() }
    if !observers.isInterrupted, known.withLock({ Self.unknown(reads, $0?.files).isEmpty }) {
      return
    }
    let isThere = look(at: path)
    known.withLock { known in
      for name in Self.unknown(reads, known?.files) {
        // It was read in a version between two looks. If both found the same file, that version was taken back.
        let (read, now) = (reads[name] ?? nil, known?.files[name])
        let isTakenBack = isThere && before[name] == now
        for key in keys(name) {
          let change: ItemChange =
            now == nil ? .removed(key) : read == nil ? .created(key) : .replaced(key)
          observers.list.collect(isTakenBack ? .changed(change) : .mayHaveChanged(key))
        }
      }
    }
    if !isThere, reads.values.contains(nil) { throw SecretsDirectory.lost }
  }

  /// Returns the names of files that were read with another content than the known one.
  private static func unknown(_ reads: [String: Int?], _ known: [String: Int?]?) -> [String] {
    reads.filter { name, hash in hash != known?[name] ?? nil }.map(\.key)
  }

  private func keys(_ name: String) -> [ItemKey] {
    [.password, .value, .credentials].compactMap { mapping.key(name, $0) }
  }

  /// Looks for changes and notifies observers of them, or returns `false` for unreadable files.
  @discardableResult
  private func look(at path: String, _ isWatched: Bool? = nil) -> Bool {
    defer { observers.list.deliver() }
    return known.withLock { known in
      if observers.list.isEmpty {
        // Observers that are added later haven't been notified of an interruption.
        known = nil
        observers.report(isReadable: true, isWatched: isWatched)
        return true
      }
      let now = try? SecretsDirectory.read(path, failing: { $0 }) {
        (directory) throws(FileFailure) in try SecretsInventory(directory)
      }
      if let now, keep(now, in: &known, isWatched) { return true }
      observers.report(isReadable: false, isWatched: isWatched)
      return false
    }
  }

  /// Remembers files and reports what has changed, or returns `false` if something else is mounted there.
  private func keep(
    _ now: SecretsInventory, in known: inout SecretsInventory?, _ isWatched: Bool? = nil
  ) -> Bool {
    if let known {
      if now.isBeneath(known) { return false }
      for kind in [ItemKind.password, .value, .credentials] {
        for change in now.changes(since: known, of: { mapping.key($0, kind) }) {
          observers.list.collect(.changed(change))
        }
      }
    }
    known = now
    observers.report(isReadable: true, isWatched: isWatched)
    return true
  }
}
#endif
