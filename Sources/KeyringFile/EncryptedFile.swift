#if EncryptedFile
internal import Crypto
internal import KeyringStorage
internal import Synchronization

/// What the copies of a storage share: the file as it was last read, and the key to it.
final class EncryptedFile: Sendable {
  /// The file as it was at one moment.
  ///
  /// It stays open, so that its number cannot become another's.
  private struct Version: Sendable {
    let file: OpenFile
    let identity: FileIdentity
    let envelope: Envelope
    let content: FileContent
  }

  let place: FilePlace
  private let timeout: Duration
  private let source: Mutex<KeySource>
  private let newest = Mutex<Version?>(nil)
  /// The data key that was last opened or made: nobody is asked for it again, even if the file was
  /// written by another process meanwhile, or what is in it is damaged.
  private let opened = Mutex<Envelope?>(nil)
  private let turn = Turn()
  #if os(Linux)
  /// They are told only with `newest` locked, so by one thread at a time.
  private let observers = FileObservers()
  #endif

  init(_ place: FilePlace, _ source: KeySource, _ timeout: Duration) {
    self.place = place
    self.source = Mutex(source)
    self.timeout = timeout
  }

  // MARK: - Reading

  /// What is in the file now; `nil` when there is none.
  func content(
    _ operation: SecureStorageError.Operation, _ purpose: KeySource.Purpose = .existing
  ) throws(SecureStorageError) -> FileContent? {
    try attempt(operation) { () throws(SecureStorageError) in
      try version(purpose)?.content
    }
  }

  /// The file as it is now, read again only if it is another than last time.
  private func version(
    _ purpose: KeySource.Purpose = .existing
  ) throws(SecureStorageError) -> Version? {
    try Patience.check()
    try place.check()
    let identity = try attempt { () throws(FileFailure) in try FileIdentity(at: place.path) }
    guard let identity else {
      try keep(nil)
      return nil
    }
    if let known = newest.withLock({ $0 }), known.identity == identity { return known }
    return try readVersion(purpose)
  }

  private func readVersion(
    _ purpose: KeySource.Purpose
  ) throws(SecureStorageError) -> Version? {
    guard let (file, identity, bytes) = try place.read() else { return nil }
    let sealed = try SealedFile(bytes, place)
    let envelope = try envelope(for: sealed.header, purpose)
    let content = try FileContent(decrypting: sealed, envelope, place)
    let version = Version(file: file, identity: identity, envelope: envelope, content: content)
    try keep(version)
    return version
  }

  /// Remembers what was read, unless the file is another already, and tells what has changed.
  private func keep(_ version: Version?) throws(SecureStorageError) {
    try newest.withLock { (newest) throws(SecureStorageError) in
      if version == nil && newest == nil { return }
      let identity = try attempt { () throws(FileFailure) in try FileIdentity(at: place.path) }
      guard identity == version?.identity else { return }
      let old = newest?.content
      newest = version
      #if os(Linux)
      if observers.isEmpty { return }
      for change in (version?.content ?? FileContent()).changes(since: old ?? FileContent()) {
        observers.report(.changed(change))
      }
      observers.report(isReadable: true)
      #endif
    }
  }

  /// The header's data key: known, or unwrapped with the key that the source has.
  private func envelope(
    for header: FileHeader, _ purpose: KeySource.Purpose
  ) throws(SecureStorageError) -> Envelope {
    if let known = knownEnvelope(for: header) { return known }
    // Who asks nobody does not wait for an answer either.
    if purpose == .looking { return try open(header, purpose) }
    // One thread asks; the others find what it has got.
    return try turn.take { () throws(SecureStorageError) in
      if let known = knownEnvelope(for: header) { return known }
      return try open(header, purpose)
    }
  }

  private func open(
    _ header: FileHeader, _ purpose: KeySource.Purpose
  ) throws(SecureStorageError) -> Envelope {
    let envelope = try Envelope(opening: header, key, purpose, place)
    opened.withLock { $0 = envelope }
    return envelope
  }

  private func knownEnvelope(for header: FileHeader) -> Envelope? {
    opened.withLock { $0?.header == header ? $0 : nil }
  }

  // MARK: - Writing

  /// Changes what is in the file, in one step for every reader and writer.
  func change<Result>(
    _ operation: SecureStorageError.Operation,
    _ body: (inout FileContent) throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    try attempt(operation) { () throws(SecureStorageError) in
      // What changes nothing or is refused needs no lock, and makes no file. Nor is anybody kept
      // waiting while a key is asked for.
      let before = try version()
      var trial = before?.content ?? FileContent()
      let result = try body(&trial)
      if !trial.isChanged { return result }
      let fresh = before == nil ? try newEnvelopeWithoutLock(with: key) : nil
      return try withFileLocked { (lock) throws(SecureStorageError) in
        let current = try version()
        var content = current?.content ?? FileContent()
        let result = try body(&content)
        // Neither is there where another process has removed the file meanwhile.
        let envelope =
          if let known = current?.envelope ?? fresh { known } else {
            try Envelope(sealingWith: key, place)
          }
        if content.isChanged, try !write(content, envelope, under: lock) { return nil }
        return result
      }
    }
  }

  func changeKey(to newSource: KeySource) throws(SecureStorageError) {
    try attempt(.changeKey) { () throws(SecureStorageError) in
      if try version() != nil {
        // A data key of its own: who knew the old one must not read on.
        var new = try newEnvelopeWithoutLock(with: newSource)
        // Also when all went well but for the last step, that the folder is on the disk.
        defer {
          if let new, knownEnvelope(for: new.header) != nil { source.withLock { $0 = newSource } }
        }
        try withFileLocked { (lock) throws(SecureStorageError) in
          guard let content = try version()?.content else { return () }
          let envelope = if let new { new } else { try Envelope(sealingWith: newSource, place) }
          new = envelope
          return try write(content, envelope, under: lock) ? () : nil
        }
      }
      source.withLock { $0 = newSource }
    }
  }

  /// What the file is encrypted with from now on.
  var key: KeySource { source.withLock { $0 } }

  /// A new data key, where the source's key can be had while others may write.
  ///
  /// A storage may let two processes make the key at once, and keep the later; so one that is to be
  /// there is made under the lock, which keeps the other away until the file has it.
  private func newEnvelopeWithoutLock(
    with source: KeySource
  ) throws(SecureStorageError) -> Envelope? {
    source.kind == .storage ? nil : try Envelope(sealingWith: source, place)
  }

  /// Does something under the lock, and again when it answers `nil`, which is that the lock was lost.
  private func withFileLocked<Result>(
    _ body: (FileLock) throws(SecureStorageError) -> Result?
  ) throws(SecureStorageError) -> Result {
    try attempt { () throws(FileFailure) in try place.folder.make() }
    return try Patience(timeout).wait { () throws(SecureStorageError) -> Result? in
      let lock = try attempt { () throws(FileFailure) in try FileLock(taking: place) }
      guard let lock else { return nil }
      // On NFS a cache may answer what a path leads to, until the file there is opened.
      _ = try attempt { () throws(FileFailure) in try place.open() }
      // It is given back when the lock is closed.
      return try withExtendedLifetime(lock) { () throws(SecureStorageError) in try body(lock) }
    }
  }

  /// Puts content on the disk; answers whether the lock was held until then, and it was.
  private func write(
    _ content: FileContent, _ envelope: Envelope, under lock: FileLock
  ) throws(SecureStorageError) -> Bool {
    var content = content
    let sealed = try content.sealed(envelope, place)
    let file = try attempt { () throws(FileFailure) in
      try place.replace(with: sealed, under: lock)
    }
    guard let file else { return false }
    opened.withLock { $0 = envelope }
    let identity = try attempt { () throws(FileFailure) in try FileIdentity(file.status()) }
    try keep(Version(file: file, identity: identity, envelope: envelope, content: content))
    do throws(FileFailure) {
      try place.folder.sync()
    } catch {
      throw .afterwards(place, error)
    }
    return true
  }

  // MARK: - Observing

  #if os(Linux)
  func observe(
    _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageObservation {
    try attempt(.observe) { () throws(SecureStorageError) in
      try attempt { () throws(FileFailure) in
        try place.folder.make()
        try observers.watch(place) { [weak self] in self?.lookForChanges($0) }
      }
      // Whoever is asked for the key is not to hurry.
      _ = try version()
      return try Patience(timeout).wait { () throws(SecureStorageError) in
        let seen = try version()
        // Changes are told from what is remembered then: it must be what there is.
        return newest.withLock { newest in
          newest?.identity == seen?.identity ? observers.add(observer) : nil
        }
      }
    }
  }

  /// Reads what somebody else has written, which reports it.
  ///
  /// Nobody is asked: where the key is another, changes are reported when an operation has read it.
  private func lookForChanges(_ isWatched: Bool) {
    if observers.isEmpty {
      // Who comes later has not been told of an interruption.
      return newest.withLock { _ in observers.report(isReadable: true, isWatched: isWatched) }
    }
    do throws(SecureStorageError) {
      let identity = try attempt { () throws(FileFailure) in try FileIdentity(at: place.path) }
      newest.withLock { newest in
        if identity != newest?.identity { observers.report(.mayHaveChanged(nil)) }
      }
      _ = try version(.looking)
      newest.withLock { _ in observers.report(isReadable: true, isWatched: isWatched) }
    } catch {
      // An operation may have read it meanwhile, and not been refused the key.
      newest.withLock { newest in
        let identity = try? FileIdentity(at: place.path)
        observers.report(
          isReadable: identity != nil && identity == newest?.identity, isWatched: isWatched)
      }
    }
  }
  #endif

  // MARK: - Errors

  private func attempt<Result>(
    _ body: () throws(FileFailure) -> Result
  ) throws(SecureStorageError) -> Result {
    do throws(FileFailure) {
      return try body()
    } catch {
      throw SecureStorageError(place, error)
    }
  }

  /// Says of an error what was being done when it came up.
  private func attempt<Result>(
    _ operation: SecureStorageError.Operation, _ body: () throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    do throws(SecureStorageError) {
      return try body()
    } catch {
      var error = error
      error.operation = operation
      throw error
    }
  }
}
#endif
