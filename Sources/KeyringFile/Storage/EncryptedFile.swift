// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import KeyringRuntime
internal import KeyringSealing
internal import KeyringStorage
internal import Synchronization

/// The state that the copies of a storage share: the file as it was last read, and its key.
final class EncryptedFile: Sendable {
  /// The file as it was at one moment.
  ///
  /// The file stays open, which keeps its number from another file.
  private final class Version: Sendable {
    let identity: FileIdentity
    let envelope: Envelope
    let content: FileContent
    private let file: OpenFile

    init(
      of file: OpenFile, _ identity: FileIdentity, _ envelope: Envelope, _ content: FileContent
    ) {
      (self.identity, self.envelope, self.content) = (identity, envelope, content)
      self.file = file
    }
  }

  let place: FileLocation
  let timeout: Duration
  let keys: FileKeys
  let turns: FileTurns
  private let newest = Mutex<Version?>(nil)
  /// The number of times that a version was remembered.
  private let keepCount = Atomic(0)
  #if os(Linux)
  /// The observers, whose events are collected with `newest` locked, and reported at the end of an operation.
  private let observers = FileObservers()
  #endif

  init(_ place: FileLocation, _ source: KeySource, _ timeout: Duration) {
    self.place = place
    keys = FileKeys(source, place)
    turns = FileTurns(place, timeout)
    self.timeout = timeout
  }

  // MARK: - Reading

  /// Returns the current content of the file, or `nil` for a missing file.
  func content(
    _ operation: SecureStorageError.Operation, _ purpose: KeyRequest.Purpose = .opening
  ) throws(SecureStorageError) -> FileContent? {
    try perform(operation) { () throws(SecureStorageError) in
      try version(purpose)?.content
    }
  }

  /// Returns the current version of the file, which is read again only after a change.
  private func version(
    _ purpose: KeyRequest.Purpose = .opening
  ) throws(SecureStorageError) -> Version? {
    try FileDeadline.check()
    try place.check()
    let identity = try translating(FileIdentity(at: place.path))
    guard let identity else {
      try keep(nil)
      return nil
    }
    if let known = newest.withLock({ $0 }), known.identity == identity { return known }
    return try readVersion(purpose)
  }

  private func readVersion(
    _ purpose: KeyRequest.Purpose
  ) throws(SecureStorageError) -> Version? {
    guard let (file, identity, bytes) = try place.read() else { return nil }
    let envelope = try keys.envelope(for: FileHeader(bytes, place), purpose)
    let content = try FileContent(decrypting: bytes, envelope, place)
    let version = Version(of: file, identity, envelope, content)
    try keep(version)
    return version
  }

  /// Remembers a version of a file that is still the same, and reports the changes to observers.
  private func keep(_ version: Version?) throws(SecureStorageError) {
    if version == nil && newest.withLock({ $0 == nil }) { return }
    while true {
      let count = keepCount.load(ordering: .acquiring)
      guard try translating(FileIdentity(at: place.path)) == version?.identity else { return }
      // Another thread may have remembered a later version since then.
      if newest.withLock({ keep(version, in: &$0, after: count) }) { return }
    }
  }

  /// Remembers a version, or returns `false` after another one was remembered.
  private func keep(_ version: Version?, in newest: inout Version?, after count: Int) -> Bool {
    guard keepCount.load(ordering: .acquiring) == count else { return false }
    keepCount.add(1, ordering: .releasing)
    let old = newest?.content
    newest = version
    #if os(Linux)
    if !observers.list.isEmpty {
      for change in (version?.content ?? FileContent()).changes(since: old ?? FileContent()) {
        observers.list.collect(.changed(change))
      }
    }
    observers.report(isReadable: true)
    #endif
    return true
  }

  // MARK: - Writing

  /// The outcome of a change that was attempted under the lock.
  private enum Outcome<Result> {
    /// The change was made, or there was nothing to change.
    case done(Result)
    /// The source must be asked for a key first, outside of the lock.
    ///
    /// Other writers would wait for the user's answer.
    case needsKey
  }

  /// Changes the content of the file, in a single step for all readers and writers.
  func change<Result>(
    _ operation: SecureStorageError.Operation,
    _ body: (inout FileContent) throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    try perform(operation) { () throws(SecureStorageError) in
      while true {
        // A change that has no effect or is refused needs no lock and creates no file.
        let before = try version()
        var trial = before?.content ?? FileContent()
        trial.isTrial = true
        let result = try body(&trial)
        if !trial.isChanged { return result }
        let new = before == nil ? try keys.prepareKey() : nil
        let outcome = try withFileLocked { (lock) throws(SecureStorageError) in
          try change(under: lock, new, body)
        }
        if case .done(let result) = outcome { return result }
      }
    }
  }

  /// Changes the content under the lock, or returns `nil` to be called again under a new lock.
  ///
  /// In that case, the lock was lost, or the source of the key for a new file was replaced.
  private func change<Result>(
    under lock: FileLock, _ new: FileKeys.NewKey?,
    _ body: (inout FileContent) throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Outcome<Result>? {
    guard try isKeyKnown() else { return .needsKey }
    let current = try version()
    var content = current?.content ?? FileContent()
    let result = try body(&content)
    if !content.isChanged { return .done(result) }
    let isWritten: Bool
    if let current {
      isWritten = try write(&content, current.envelope, under: lock)
    } else {
      // Another process may have removed the file in the meantime.
      guard let new = try keys.checkOrMakeKey(new) else { return .needsKey }
      isWritten = try keys.createFile(with: new) { (envelope) throws(SecureStorageError) in
        try write(&content, envelope, under: lock)
      }
    }
    return isWritten ? .done(result) : nil
  }

  /// Returns `false` for a key of another process that this one would have to ask for.
  private func isKeyKnown() throws(SecureStorageError) -> Bool {
    let identity = try translating(FileIdentity(at: place.path))
    if identity == newest.withLock({ $0?.identity }) { return true }
    guard let (_, _, bytes) = try place.read() else { return true }
    return keys.isKnown(try FileHeader(bytes, place).wrappedKey)
  }

  func changeKey(to newSource: KeySource) throws(SecureStorageError) {
    try perform(.changeKey) { () throws(SecureStorageError) in
      // Use a new data key, so that someone who knows the old one can't read later content.
      var new: Envelope?
      while true {
        while try version() == nil {
          // Another thread may have created the file in the meantime.
          if try translating(keys.replaceSourceOfNoFile(with: newSource)) { return }
        }
        // Some sources create a key only under the lock.
        if new == nil, !newSource.mayLoseNewKey { new = try keys.makeEnvelope(with: newSource) }
        let outcome = try withFileLocked { (lock) throws(SecureStorageError) in
          try changeKey(to: newSource, &new, under: lock)
        }
        if case .done = outcome { return }
      }
    }
  }

  /// Encrypts the file with a new data key, or returns `nil` to be called again under a new lock.
  private func changeKey(
    to newSource: KeySource, _ new: inout Envelope?, under lock: FileLock
  ) throws(SecureStorageError) -> Outcome<Void>? {
    guard try isKeyKnown() else { return .needsKey }
    guard var content = try version()?.content else {
      keys.replaceSource(with: newSource)
      return .done(())
    }
    let envelope = if let new { new } else { try keys.makeEnvelope(with: newSource) }
    new = envelope
    var isReplaced = false
    // Also switch if only the last step failed, which is to sync the directory to the disk.
    defer {
      if isReplaced || keys.isKnown(envelope.wrappedKey) { keys.replaceSource(with: newSource) }
    }
    isReplaced = try write(&content, envelope, under: lock)
    return isReplaced ? .done(()) : nil
  }

  /// Runs a closure under the lock, and again each time it returns `nil`.
  private func withFileLocked<Result>(
    _ body: (FileLock) throws(SecureStorageError) -> Result?
  ) throws(SecureStorageError) -> Result {
    try translating(place.directory.make())
    return try FileDeadline(timeout).wait { () throws(SecureStorageError) -> Result? in
      let lock = try translating(place.lock())
      guard let lock else { return nil }
      // On NFS, the path may be resolved from a cache until the file there is opened.
      _ = try translating(place.open())
      // The lock is released when it's closed.
      return try withExtendedLifetime(lock) { () throws(SecureStorageError) in try body(lock) }
    }
  }

  /// Replaces the file on the disk, or returns `false` after the lock was lost.
  private func write(
    _ content: inout FileContent, _ envelope: Envelope, under lock: FileLock
  ) throws(SecureStorageError) -> Bool {
    let sealed = try content.sealed(envelope, place)
    let file = try translating(place.replace(with: sealed, under: lock))
    guard let file else { return false }
    keys.remember(envelope)
    let identity = try translating(FileIdentity(file.status()))
    try keep(Version(of: file, identity, envelope, content))
    do throws(FileFailure) {
      try place.directory.sync()
    } catch {
      throw .afterwards(place, error)
    }
    return true
  }

  // MARK: - Observing

  #if os(Linux)
  func observe(
    _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    let observation = try perform(.observe) { () throws(SecureStorageError) in
      try translating(place.directory.make())
      do throws(FileFailure) {
        try observers.watch { [list = observers.list] () throws(FileFailure) in
          try FileWatcher(place.path, while: { !list.isEmpty }) { [weak self] in
            self?.lookForChanges($0)
          }
        }
      } catch {
        throw .unwatched(place, error)
      }
      // Read the file without a deadline first, so that the user who is asked for the key has time.
      _ = try version()
      return try FileDeadline(timeout).wait { () throws(SecureStorageError) in
        let seen = try version()
        // Changes are found by comparison with the remembered version, so it must be the current one.
        return newest.withLock { newest in
          newest?.identity == seen?.identity ? observers.add(observer) : nil
        }
      }
    }
    // The storage may be released before the observation ends.
    return StorageSubscription { withExtendedLifetime(self) { observation.cancel() } }
  }

  /// Reads and reports the changes of another process.
  ///
  /// This only uses known keys. With another key, the changes are reported after an operation has read the file.
  private func lookForChanges(_ isWatched: Bool) {
    defer { observers.list.deliver() }
    if observers.list.isEmpty {
      // Observers that are added later haven't been notified of an interruption.
      return newest.withLock { _ in observers.report(isReadable: true, isWatched: isWatched) }
    }
    do throws(SecureStorageError) {
      let identity = try translating(FileIdentity(at: place.path))
      newest.withLock { newest in
        if identity != newest?.identity { observers.list.collect(.mayHaveChanged(nil)) }
      }
      _ = try version(.inspection)
      newest.withLock { _ in observers.report(isReadable: true, isWatched: isWatched) }
    } catch {
      // Observers learn only that changes go unnoticed. The next operation throws the error.
      // An operation with access to the key may have read the file in the meantime.
      let identity = try? FileIdentity(at: place.path)
      newest.withLock { newest in
        observers.report(
          isReadable: identity != nil && identity == newest?.identity, isWatched: isWatched)
      }
    }
  }
  #endif

  // MARK: - Errors

  /// Turns the failure of an expression into an error of the storage.
  func translating<Result>(
    _ expression: @autoclosure () throws(FileFailure) -> Result
  ) throws(SecureStorageError) -> Result {
    try Swift.Result(catching: expression).mapError { SecureStorageError(place, $0) }.get()
  }

  /// Runs a closure and sets the operation of its errors.
  private func perform<Result>(
    _ operation: SecureStorageError.Operation, _ body: () throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    #if os(Linux)
    // The locks of the file are released by now.
    defer { observers.list.deliver() }
    #endif
    let start = KeyringEvent.Start()
    let outcome = Swift.Result(catching: body).mapError { $0.during(operation) }
    KeyringEvent.report(event(of: operation, outcome, since: start))
    return try outcome.get()
  }

  private func event<Result>(
    of operation: SecureStorageError.Operation,
    _ outcome: Swift.Result<Result, SecureStorageError>, since start: KeyringEvent.Start
  ) -> KeyringEvent? {
    switch outcome {
    case .success: .operationSucceeded(operation, backend: "EncryptedFileStorage", since: start)
    // An operation that has to ask the user begins again.
    case .failure(let error) where StorageQuestion.isNeeded(for: error): nil
    case .failure(let error): .operationFailed(error, since: start)
    }
  }
}
#endif
