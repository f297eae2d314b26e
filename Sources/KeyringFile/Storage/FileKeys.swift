// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import KeyringRuntime
internal import KeyringSealing
internal import KeyringStorage
internal import Synchronization

/// The source of a file's key, and the data keys that were opened or made with it.
final class FileKeys: Sendable {
  /// A data key for a new file.
  struct NewKey: Sendable {
    fileprivate let envelope: Envelope
    /// The number of times the source had been replaced.
    fileprivate let changes: Int
  }

  private struct State: Sendable {
    var source: KeySource
    /// The number of times the source was replaced.
    var changes = 0
    /// The data key for a new file, shared by all threads that want to create the file.
    var prepared: NewKey?

    mutating func replaceSource(with new: KeySource) {
      self = State(source: new, changes: changes + 1)
    }
  }

  private let place: FileLocation
  private let state: Mutex<State>
  /// The data key that was last opened or made.
  ///
  /// It stays known after another process has written the file, or damaged its content.
  private let opened = Mutex<Envelope?>(nil)
  /// The permission to ask for the key, for one thread at a time.
  private let asking = TaskSemaphore(1)
  let question = StorageQuestion()

  init(_ source: KeySource, _ place: FileLocation) {
    state = Mutex(State(source: source))
    self.place = place
  }

  /// The source of the current key of the file.
  var source: KeySource { state.withLock { $0.source } }

  // MARK: - The key of the file

  /// Returns the data key of the header, either the known one or one unwrapped with the source's key.
  func envelope(
    for header: FileHeader, _ purpose: KeyRequest.Purpose
  ) throws(SecureStorageError) -> Envelope {
    if let known = known(for: header.wrappedKey) { return known }
    // An inspection doesn't ask for the key, and doesn't wait for another thread's question.
    if purpose == .inspection { return try open(header, purpose) }
    return try askingOnce {
      known(for: header.wrappedKey)
    } or: { () throws(SecureStorageError) in
      try open(header, purpose)
    }
  }

  /// Returns `true` for the data key that was last opened or made.
  func isKnown(_ key: WrappedKey) -> Bool { known(for: key) != nil }

  func remember(_ envelope: Envelope) { opened.withLock { $0 = envelope } }

  private func known(for key: WrappedKey) -> Envelope? {
    opened.withLock { $0?.wrappedKey == key ? $0 : nil }
  }

  private func open(
    _ header: FileHeader, _ purpose: KeyRequest.Purpose
  ) throws(SecureStorageError) -> Envelope {
    let envelope = try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await Envelope(
        opening: header.wrappedKey, with: source, for: FileHeader.use, place.keyRequest(purpose))
    }
    remember(envelope)
    return envelope
  }

  /// Returns the known key, which may be the answer to another thread, or asks for it.
  ///
  /// The user can take any amount of time.
  private func askingOnce<Key>(
    _ known: () -> Key?, or ask: () throws(SecureStorageError) -> Key
  ) throws(SecureStorageError) -> Key {
    if let known = known() { return known }
    try StorageQuestion.begin()
    guard ThreadExecutor.runToEnd({ await asking.take(until: nil) }) == .ended else {
      throw SecureStorageError(.canceled)
    }
    defer { asking.giveBack() }
    if let known = known() { return known }
    return try ask()
  }

  // MARK: - The key of a new file

  /// Makes the data key for a new file, or returns `nil` for a source whose key must be created under the lock.
  func prepareKey() throws(SecureStorageError) -> NewKey? {
    if source.mayLoseNewKey {
      // Other writers of this process wait for this one, and not for the lock.
      try StorageQuestion.begin()
      return nil
    }
    return try askingOnce {
      state.withLock { $0.prepared }
    } or: { () throws(SecureStorageError) in
      let new = try makeKey()
      state.withLock { state in
        // Someone may remove a key that was created, together with the file.
        if state.changes == new.changes, !state.source.createsKey { state.prepared = new }
      }
      return new
    }
  }

  /// Makes a data key with the current source.
  func makeKey() throws(SecureStorageError) -> NewKey {
    let (source, changes) = state.withLock { ($0.source, $0.changes) }
    return NewKey(envelope: try makeEnvelope(with: source), changes: changes)
  }

  /// Makes a data key with any source, which may ask the user.
  func makeEnvelope(with source: KeySource) throws(SecureStorageError) -> Envelope {
    try StorageQuestion.begin()
    return try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await Envelope(sealingWith: source, for: FileHeader.use, place.keyRequest(.creation))
    }
  }

  /// Checks or makes a data key for a new file, or returns `nil` to prepare one outside of the lock.
  ///
  /// - Parameter prepared: The prepared key, or `nil`. It's valid up to the next replacement of the source.
  /// - Returns: The data key, which may be created only now, under the lock.
  /// - Throws: The errors of the source.
  func checkOrMakeKey(_ prepared: NewKey?) throws(SecureStorageError) -> NewKey? {
    let (source, changes) = state.withLock { ($0.source, $0.changes) }
    if let prepared, prepared.changes == changes { return prepared }
    guard source.mayLoseNewKey else { return nil }
    return try makeKey()
  }

  /// Creates a file with a data key of the current source.
  ///
  /// Only after that, the source can be replaced, which gives the file the new key.
  ///
  /// - Parameters:
  ///   - new: The data key.
  ///   - create: A closure that creates the file, or returns `false`.
  /// - Returns: The result of the closure, or `false` for a key of an earlier source.
  /// - Throws: The error of the closure.
  func createFile(
    with new: NewKey, _ create: (Envelope) throws(SecureStorageError) -> Bool
  ) throws(SecureStorageError) -> Bool {
    try state.withLock { (state) throws(SecureStorageError) in
      guard state.changes == new.changes else { return false }
      return try create(new.envelope)
    }
  }

  /// Replaces the source, and forgets the key that was made for a new file.
  func replaceSource(with source: KeySource) { state.withLock { $0.replaceSource(with: source) } }

  /// Replaces the source of a missing file, so that a file that is created afterwards has the new key.
  ///
  /// - Parameter source: The new source.
  /// - Returns: `true` for a missing file.
  /// - Throws: `FileFailure` from the search for the file.
  func replaceSourceOfNoFile(with source: KeySource) throws(FileFailure) -> Bool {
    try state.withLock { (state) throws(FileFailure) in
      guard try FileIdentity(at: place.path) == nil else { return false }
      state.replaceSource(with: source)
      return true
    }
  }
}
#endif
