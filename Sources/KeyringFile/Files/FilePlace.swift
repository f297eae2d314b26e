#if EncryptedFile
internal import KeyringStorage

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Where the encrypted file is, and what is beside it: the lock, and while it is written the new one.
struct FilePlace: Sendable {
  /// The largest file that is read or written, in bytes.
  static let largest = 256 << 20

  let path: String
  let folder: Folder
  /// The last part of the path.
  let name: String

  init(_ path: String) {
    self.path = path
    folder = Folder(of: path)
    name = path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }

  /// The file whose lock the writers take; it stays, as another process may be about to take it.
  var lockPath: String { "\(folder.path)/\(name).lock" }

  /// One name for all writers, of whom the lock lets one in: what a killed one has left is found.
  private var temporaryPath: String { "\(folder.path)/.\(name).new" }

  /// Refuses a path that cannot be that of a file.
  func check() throws(SecureStorageError) {
    guard !["", ".", ".."].contains(name), !path.utf8.contains(0) else {
      throw SecureStorageError(
        .invalidArgument, self, "The argument \"path\" must be the path of a file.",
        argument: "path")
    }
  }

  /// Reads the file; `nil` when there is none.
  func read() throws(SecureStorageError) -> (OpenFile, FileIdentity, bytes: [UInt8])? {
    do throws(FileFailure) {
      guard let file = try open() else { return nil }
      let status = try file.status()
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw FileFailure("is no regular file", number: EINVAL)
      }
      guard status.st_size <= Self.largest else {
        throw FileFailure("is too large", number: EFBIG)
      }
      return (file, FileIdentity(status), try bytes(of: file, Int(status.st_size)))
    } catch {
      throw SecureStorageError(self, error)
    }
  }

  /// Opens the file; `nil` when there is none.
  func open() throws(FileFailure) -> OpenFile? {
    do throws(FileFailure) {
      // Not to wait for a writer, should it be a pipe.
      return try OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    } catch {
      if error.number == ENOENT { return nil }
      throw error
    }
  }

  /// The bytes of a file that nobody changes in place; fewer where somebody has cut it short.
  private func bytes(of file: OpenFile, _ count: Int) throws(FileFailure) -> [UInt8] {
    var failure: FileFailure?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      do throws(FileFailure) {
        initializedCount = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Puts new content in the place of the old, for whoever has the lock.
  ///
  /// - Returns: The new file, or `nil` when the lock was lost meanwhile, and nothing changed. It is on
  ///   the disk, but its name there may still be the old one's.
  func replace(with content: [UInt8], under lock: FileLock) throws(FileFailure) -> OpenFile? {
    unlink(temporaryPath)
    return try content.withUnsafeBufferPointer { (bytes) throws(FileFailure) in
      let replacement = try FileReplacement(
        of: path, through: temporaryPath, with: UnsafeRawBufferPointer(bytes))
      // Another writer may have come in between, and begun to write under the same name. Not the one
      // that was written to is kept open: a file system with such a file cannot be made read-only.
      guard let file = try replacement.opened(), try lock.isHeld() else { return nil }
      try replacement.commit()
      return file
    }
  }
}
#endif
