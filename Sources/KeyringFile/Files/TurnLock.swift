// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import Crypto
internal import KeyringRuntime
internal import KeyringSealing
internal import KeyringStorage
internal import Synchronization

internal import KeyringPlatform

/// The open file in which programs lock one byte for each item, so that one of them changes it at a time.
///
/// The place of the byte is a hash with a salt, because the system tells all users of the machine which bytes are
/// locked. The file has the salt, and the processes that have locked bytes, but neither names nor secrets.
struct TurnsFile: Sendable {
  /// The byte of an item, and where the process is noted that has locked it.
  private struct Place {
    let byte: UInt64

    /// The bytes of items are far behind the content of the file.
    init(of key: ItemKey, salt: [UInt8]) {
      let hash = SHA256.hash(data: salt + key.canonicalBytes)
      byte = UInt64(bigEndianBytes: hash.prefix(8)) >> 2 | 1 << 62
    }

    /// A later item can have the same note as an earlier one, which then is without a note.
    var note: Int { (1 + Int(byte % 64)) * TurnsFile.noteSize }
  }

  private static let saltSize = 16
  private static let noteSize = 32

  private let file: OpenFile
  private let path: String
  private let salt: [UInt8]

  /// Opens the file, or creates it, or returns `nil` while another program writes the salt.
  ///
  /// - Parameter place: The place of the encrypted file.
  /// - Throws: The failure to open or create it.
  init?(beside place: FileLocation) throws(FileFailure) {
    let file = try OpenFile.beside(place.path, at: place.turnsPath)
    guard let salt = try Self.salt(of: file) else { return nil }
    (self.file, self.salt, path) = (file, salt, place.turnsPath)
  }

  /// Returns the salt of the file, which the first program writes, or `nil` while another one does.
  private static func salt(of file: OpenFile) throws(FileFailure) -> [UInt8]? {
    func written() throws(FileFailure) -> [UInt8]? {
      let salt = try file.bytes(at: 0, count: saltSize)
      return salt.count == saltSize ? salt : nil
    }
    if let salt = try written() { return salt }
    guard try file.lockByte(at: 0, waiting: false) else { return nil }
    defer { file.unlockByte(at: 0) }
    if let salt = try written() { return salt }
    let salt = [UInt8].random(saltSize)
    try file.write(salt, at: 0)
    return salt
  }

  /// Returns `true` for a file that still is the one that others open.
  ///
  /// Someone may have removed it, and another program may have created a new one.
  fileprivate func isInPlace() throws(FileFailure) -> Bool {
    guard let there = try FileIdentity(at: path),
      try there.isOfSameFile(as: FileIdentity(file.status()))
    else { return false }
    return try Self.salt(of: file) == salt
  }

  fileprivate func lock(_ key: ItemKey, waiting isWaiting: Bool) throws(FileFailure) -> Bool {
    let place = Place(of: key, salt: salt)
    guard try file.lockByte(at: Int64(place.byte), waiting: isWaiting) else { return false }
    // The note is for a message. Without it, the lock is as good.
    if let note = note(of: getpid(), at: place) { try? file.write(note, at: place.note) }
    return true
  }

  fileprivate func unlock(_ key: ItemKey) {
    let place = Place(of: key, salt: salt)
    // Another process must not be taken for this one.
    if let note = note(of: getpid(), at: place), note == noted(at: place) {
      try? file.write([UInt8](repeating: 0, count: note.count), at: place.note)
    }
    file.unlockByte(at: Int64(place.byte))
  }

  /// Returns the number of the process that has locked the byte of an item, or `nil` for one that can't be seen.
  func holder(of key: ItemKey) -> pid_t? {
    let place = Place(of: key, salt: salt)
    guard let noted = noted(at: place) else { return nil }
    // A process that was killed has left its note.
    guard let process = pid_t(exactly: UInt64(bigEndianBytes: noted[8..<16])),
      note(of: process, at: place) == noted
    else { return nil }
    return process
  }

  private func noted(at place: Place) -> [UInt8]? {
    let noted = try? file.bytes(at: place.note, count: Self.noteSize)
    return noted?.count == Self.noteSize ? noted : nil
  }

  /// Returns a note: the byte, the number of the process, and a mark that no other process has.
  private func note(of process: pid_t, at place: Place) -> [UInt8]? {
    #if os(Linux)
    guard let identity = ProcFile.identity(of: process) else { return nil }
    let mark = SHA256.hash(data: salt + identity.utf8).prefix(16)
    return place.byte.bigEndianBytes + UInt64(process).bigEndianBytes + mark
    #else
    nil
    #endif
  }
}

/// The lock of the byte of an item.
///
/// The system unlocks the byte of a killed process.
final class TurnLock: Sendable {
  private let file: TurnsFile
  private let key: ItemKey
  private let isReleased = Mutex(false)
  /// The process that has locked it, because a forked one shares the open file.
  private let process = getpid()

  /// Locks the byte of an item, or returns `nil` for one that is locked.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - file: The open file, which has no other lock.
  ///   - isWaiting: Whether to wait for others. Nothing but the lock ends the wait.
  /// - Throws: Any other failure to lock it.
  init?(_ key: ItemKey, in file: TurnsFile, waiting isWaiting: Bool) throws(FileFailure) {
    (self.file, self.key) = (file, key)
    if try !file.lock(key, waiting: isWaiting) {
      isReleased.withLock { $0 = true }
      return nil
    }
  }

  deinit { release() }

  /// Returns `true` for a lock that still keeps others out.
  func isHeld() throws(FileFailure) -> Bool {
    if isReleased.withLock({ $0 }) { return false }
    return try file.isInPlace()
  }

  /// Unlocks the byte.
  func release() {
    if isReleased.withLock({ exchange(&$0, with: true) }) || getpid() != process { return }
    file.unlock(key)
  }
}
#endif
