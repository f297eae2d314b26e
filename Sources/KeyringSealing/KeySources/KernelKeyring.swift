// SPDX-License-Identifier: Apache-2.0

#if Sealing && os(Linux)
internal import KeyringPlatform
internal import KeyringRuntime
public import KeyringStorage

extension KeySource {
  /// Returns a source whose key the kernel keeps for a while.
  ///
  /// After login, the first program asks the user for the passphrase, and later ones find the key:
  ///
  /// ```swift
  /// let key = KeySource.typedPassphrase().held(for: .seconds(8 * 3600))
  /// ```
  ///
  /// The kernel only gets the key that was derived from the passphrase for one file or one namespace, after that key
  /// has opened or created it. This also saves the time of the derivation.
  ///
  /// The kernel forgets the key after the time, or with ``KernelKeyring/forgetKeys()``. Before that, every program of
  /// the user that can use the kernel's keyring can open the file. The key gets to a disk only in hibernation. On a
  /// kernel that lacks keyrings, in a container that denies their use, or in a session of another user (as with
  /// sudo), the source is asked each time. See
  /// [keyrings(7)](https://man7.org/linux/man-pages/man7/keyrings.7.html).
  ///
  /// - Parameters:
  ///   - duration: The time after which the kernel forgets the key, in whole seconds.
  ///   - keyring: The keyring that the kernel keeps the key in.
  /// - Returns: The source.
  public func held(for duration: Duration, in keyring: KernelKeyring = .session) -> KeySource {
    var source = self
    // Each failure has the same effect: the source is asked. Only forgetKeys() reports why.
    source.holder = KeyHolder(
      key: { name in try? keyring.key(named: name) },
      hold: { name, key in try? keyring.add(key, named: name, for: duration) },
      forget: { name in try? keyring.removeKey(named: name) })
    return source
  }
}

/// A keyring of the Linux kernel.
///
/// ```swift
/// let key = KeySource.typedPassphrase().held(for: .seconds(8 * 3600), in: .persistent)
/// ```
///
/// It's another one than the user's keyring of the Secret Service. The kernel keeps its keys in memory. See
/// [keyrings(7)](https://man7.org/linux/man-pages/man7/keyrings.7.html).
public enum KernelKeyring: Sendable {
  /// The keyring of the login session, which the programs that are started in it inherit.
  ///
  /// It ends with the last program of the session. See
  /// [session-keyring(7)](https://man7.org/linux/man-pages/man7/session-keyring.7.html).
  case session
  /// The keyring of the user, which exists outside of sessions, too.
  ///
  /// All programs of the user can use it, such as those that cron starts. The kernel removes it after
  /// three days out of use. See
  /// [persistent-keyring(7)](https://man7.org/linux/man-pages/man7/persistent-keyring.7.html).
  case persistent

  /// Removes the keys that this package has stored.
  ///
  /// ```swift
  /// try KernelKeyring.session.forgetKeys()
  /// ```
  ///
  /// The next operation that needs such a key asks its source again. A process that has opened a file before
  /// can still read it.
  ///
  /// - Throws: `.accessDenied` for a keyring whose use the kernel denies, or `.other`.
  public func forgetKeys() throws(SecureStorageError) {
    do throws(FileFailure) {
      try use { (keyring) throws(FileFailure) in
        for key in try Self.keys(in: keyring) where Self.isOwn(key) {
          try Self.remove(key, from: keyring)
        }
      }
    } catch {
      throw SecureStorageError(
        error.code, operation: .lock, backendName: "KernelKeyring",
        message: "The kernel's keyring \(error.problem).",
        recoverySuggestion:
          "Check that this user may use the kernel's keyring. Containers often deny it.",
        underlying: error.underlying)
    }
  }

  // MARK: - Keys

  private static let type = "user"
  private static let prefix = "swift-keyring:"
  /// The thread's own keyring, which ends with the thread.
  private static let thread = Int(KEY_SPEC_THREAD_KEYRING)

  /// Returns a key, or throws an error for a missing one.
  func key(named name: String) throws(FileFailure) -> Secret {
    try use { (keyring) throws(FileFailure) in
      let key = try Self.find(name, in: keyring)
      return try Secret(capacity: 64) { (room) throws(FileFailure) in
        let count = Self.control(
          KEYCTL_READ, key, Int(bitPattern: room.baseAddress), room.count)
        guard (1...room.count).contains(count) else { throw FileFailure("can't be read") }
        return count
      }
    }
  }

  /// Stores a key, in place of one with the same name.
  func add(_ key: Secret, named name: String, for duration: Duration) throws(FileFailure) {
    try use { (keyring) throws(FileFailure) in
      // The key gets its timeout and its permissions where no other thread sees it. If the process is killed
      // before that, the key doesn't stay.
      let id = key.withUnsafeBytes { bytes in
        Int(
          swift_keyring_add_key(
            Self.type, Self.prefix + name, bytes.baseAddress, bytes.count, Int32(Self.thread)))
      }
      guard id >= 0 else { throw FileFailure("can't be written") }
      defer { _ = Self.control(KEYCTL_UNLINK, id, Self.thread) }
      let time = min(max(duration, .seconds(1)), .seconds(Int32.max))
      // Only programs that have the keyring may use the key, not all programs of the user.
      let permissions = 0x3f00_0000
      guard Self.control(KEYCTL_SETPERM, id, permissions) == 0,
        Self.control(KEYCTL_SET_TIMEOUT, id, Int(time.components.seconds)) == 0,
        Self.control(KEYCTL_LINK, id, keyring) == 0
      else { throw FileFailure("can't be written") }
    }
  }

  /// Removes a key.
  func removeKey(named name: String) throws(FileFailure) {
    try use { (keyring) throws(FileFailure) in
      try Self.remove(Self.find(name, in: keyring), from: keyring)
    }
  }

  /// Removes a key from a keyring, where another process may have deleted it.
  private static func remove(_ key: Int, from keyring: Int) throws(FileFailure) {
    if control(KEYCTL_UNLINK, key, keyring) == 0 || [ENOENT, ENOKEY].contains(errno) { return }
    throw FileFailure("can't be written")
  }

  private static func find(_ name: String, in keyring: Int) throws(FileFailure) -> Int {
    let key = type.withCString { type in
      (prefix + name).withCString { description in
        control(KEYCTL_SEARCH, keyring, Int(bitPattern: type), Int(bitPattern: description))
      }
    }
    guard key >= 0 else { throw FileFailure("can't be read") }
    return key
  }

  /// Runs a closure that can use the keyring.
  private func use<Result>(
    _ body: (Int) throws(FileFailure) -> Result
  ) throws(FileFailure) -> Result {
    switch self {
    case .session:
      // By its special number, the kernel would replace a missing session keyring for this thread only.
      let keyring = Self.control(KEYCTL_GET_KEYRING_ID, Int(KEY_SPEC_SESSION_KEYRING), 0)
      guard keyring >= 0 else { throw FileFailure("can't be read") }
      // After sudo, it can be the keyring of the user who has typed the command.
      guard Self.description(of: keyring)?.split(separator: ";").dropFirst().first == "\(geteuid())"
      else { throw FileFailure("belongs to another user", number: EPERM) }
      return try body(keyring)
    case .persistent:
      // A thread can use the keys of a keyring that one of its own keyrings links to.
      let keyring = Self.control(KEYCTL_GET_PERSISTENT, -1, Self.thread)
      guard keyring >= 0 else { throw FileFailure("can't be read") }
      defer { _ = Self.control(KEYCTL_UNLINK, keyring, Self.thread) }
      return try body(keyring)
    }
  }

  private static func keys(in keyring: Int) throws(FileFailure) -> [Int] {
    var ids = [Int32](repeating: 0, count: 1024)
    while true {
      let byteCount = ids.withUnsafeMutableBytes { room in
        control(KEYCTL_READ, keyring, Int(bitPattern: room.baseAddress), room.count)
      }
      guard byteCount >= 0 else { throw FileFailure("can't be read") }
      let count = byteCount / MemoryLayout<Int32>.size
      if count <= ids.count { return ids.prefix(count).map(Int.init) }
      // Without enough room, the kernel returns only the size.
      ids = [Int32](repeating: 0, count: count)
    }
  }

  /// Returns `true` for a key that this package has stored.
  private static func isOwn(_ key: Int) -> Bool {
    let parts = description(of: key)?.split(separator: ";", maxSplits: 4) ?? []
    return parts.count == 5 && parts[0] == type && parts[4].hasPrefix(prefix)
  }

  /// Returns the type, the user, the group, the permissions and the description of a key.
  private static func description(of key: Int) -> String? {
    var text = [UInt8](repeating: 0, count: 256)
    let count = text.withUnsafeMutableBytes { room in
      control(KEYCTL_DESCRIBE, key, Int(bitPattern: room.baseAddress), room.count)
    }
    guard count > 0 else { return nil }
    return String(decoding: text.prefix(count - 1), as: UTF8.self)
  }

  private static func control(
    _ operation: Int32, _ first: Int, _ second: Int, _ third: Int = 0
  ) -> Int {
    swift_keyring_keyctl(
      operation, UInt(bitPattern: first), UInt(bitPattern: second), UInt(bitPattern: third), 0)
  }
}
#endif
