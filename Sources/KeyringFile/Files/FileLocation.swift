// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import KeyringRuntime
internal import KeyringStorage

internal import KeyringPlatform

/// The location of the encrypted file, of its lock, and of the new file while it's being written.
struct FileLocation: Sendable {
  /// The largest size of a file that is read or written, in bytes.
  static let largest = 256 << 20

  let path: String
  let directory: Directory
  /// The last component of the path.
  let name: String
  private let isValid: Bool

  init(_ path: String) {
    self.path = path
    directory = Directory(of: path)
    name = path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    isValid = !["", ".", ".."].contains(name) && !path.utf8.contains(0)
  }

  /// The path of the file that writers lock.
  ///
  /// The file stays, because another process may be about to lock it.
  var lockPath: String { "\(directory.path)/\(name).lock" }

  /// The path of the file in which programs lock the turn to change an item.
  var turnsPath: String { "\(directory.path)/\(name).turns" }

  /// The path of the new file while it's being written.
  ///
  /// All writers use the same name, because the lock admits only one of them. A file that a killed writer
  /// left behind is therefore found again.
  private var temporaryPath: String { "\(directory.path)/.\(name).new" }

  /// Throws an error for a path that can't be one of a file.
  func check() throws(SecureStorageError) {
    guard isValid else {
      throw SecureStorageError(
        .invalidArgument, "The argument \"path\" must be the path of a file.",
        argument: "path")
    }
  }

  /// The reason for which the file can't be written, as far as an existing directory and the lock show it.
  var writingObstacle: FileFailure? {
    let hasLock = access(lockPath, F_OK) == 0
    // The effective user; access(2) would check the real one.
    if directory.nearestExisting.isWritable,
      !hasLock || faccessat(AT_FDCWD, lockPath, W_OK, AT_EACCESS) == 0
    {
      return nil
    }
    return FileFailure("is in a directory that can't be read and written")
  }

  /// Reads the file, or returns `nil` for a missing one.
  func read() throws(SecureStorageError) -> (OpenFile, FileIdentity, bytes: [UInt8])? {
    do throws(FileFailure) {
      guard let file = try open() else { return nil }
      let status = try file.regularStatus(atMost: Self.largest)
      return (file, FileIdentity(status), try bytes(of: file, Int(status.st_size)))
    } catch {
      throw SecureStorageError(self, error)
    }
  }

  /// Opens the file, or returns `nil` for a missing one.
  func open() throws(FileFailure) -> OpenFile? { try OpenFile.reading(path, O_NOFOLLOW) }

  /// Reads the bytes of a file that isn't changed in place.
  ///
  /// Of a file that was cut short, it returns fewer bytes.
  private func bytes(of file: OpenFile, _ count: Int) throws(FileFailure) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let read = try bytes.withUnsafeMutableBufferPointer { (buffer) throws(FileFailure) in
      try file.read(into: UnsafeMutableRawBufferPointer(buffer))
    }
    bytes.removeLast(count - read)
    return bytes
  }

  /// Takes the lock of the writers, or returns `nil` as long as another one has it.
  func lock() throws(FileFailure) -> FileLock? { try FileLock(at: lockPath, for: path) }

  /// Replaces the content of the file while the lock is held.
  ///
  /// - Returns: The new file, or `nil` after the lock was lost, which leaves the old file as it is. The new
  ///   file is on the disk, but the directory entry on the disk may still be that of the old file.
  func replace(with content: [UInt8], under lock: FileLock) throws(FileFailure) -> OpenFile? {
    // If an old file can't be removed, the new one can't be created, and that is reported.
    unlink(temporaryPath)
    return try content.withUnsafeBufferPointer { (bytes) throws(FileFailure) in
      let replacement = try FileReplacement(
        of: path, through: temporaryPath, with: UnsafeRawBufferPointer(bytes))
      // Another writer may have taken over in between and begun to write under the same name. The file is
      // opened again instead of keeping the descriptor it was written with: a file system with a file that
      // is open for writing can't be remounted read-only.
      guard let file = try replacement.opened(), try lock.isHeld() else { return nil }
      try replacement.commit()
      return file
    }
  }
}
#endif
