#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A new file that is to take the place of another at once: whoever opens that, and whenever this
/// process ends, there is the whole old content or the whole new.
///
/// A replacement that was not ``commit()``ted leaves nothing behind.
package final class FileReplacement {
  private let file: OpenFile
  private let target: String
  private let temporary: String
  private var isCommitted = false

  /// Writes the new content to the disk, under another name.
  ///
  /// The new file is nobody else's to read until it has the owner and the permissions of the old, and
  /// its group if that has any; on Linux with its access control list.
  ///
  /// - Parameters:
  ///   - target: The path of the file, there or not; no link.
  ///   - temporary: The path of the new one, in the same folder, where nothing is.
  ///   - content: The new content.
  /// - Throws: The system's error.
  package init(
    of target: String, through temporary: String, with content: UnsafeRawBufferPointer
  ) throws(FileFailure) {
    (self.target, self.temporary) = (target, temporary)
    do throws(FileFailure) {
      file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
    } catch {
      throw FileFailure("cannot be replaced", number: error.number)
    }
    // From here on the end of self removes the file.
    try giveAttributesOfTarget()
    try file.write(content)
    try file.sync()
  }

  deinit {
    if !isCommitted, (try? isInPlace()) == true { unlink(temporary) }
  }

  /// Opens the new file once more, to be read: it stays the new one, whoever replaces it as soon as it is
  /// in its place.
  ///
  /// - Returns: The file; `nil` when what is under its name is somebody else's.
  /// - Throws: The system's error.
  package func opened() throws(FileFailure) -> OpenFile? {
    guard try isInPlace() else { return nil }
    let found = try OpenFile(temporary, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    return try isFile(found.status()) ? found : nil
  }

  private func isInPlace() throws(FileFailure) -> Bool {
    var found = stat()
    guard lstat(temporary, &found) == 0 else { return false }
    return try isFile(found)
  }

  private func isFile(_ status: stat) throws(FileFailure) -> Bool {
    let own = try file.status()
    return (status.st_dev, status.st_ino) == (own.st_dev, own.st_ino)
  }

  private func giveAttributesOfTarget() throws(FileFailure) {
    var old = stat()
    if lstat(target, &old) != 0 {
      if errno == ENOENT { return }
      throw FileFailure("cannot be found")
    }
    let new = try file.status()
    // A group that may do nothing need not be kept, and cannot where this user is no longer in it.
    let group = old.st_mode & 0o070 == 0 ? new.st_gid : old.st_gid
    guard
      (old.st_uid, group) == (new.st_uid, new.st_gid)
        || fchown(file.descriptor, old.st_uid, group) == 0,
      try giveAccessControlListOfTarget(),
      fchmod(file.descriptor, old.st_mode & 0o7777) == 0
    else { throw FileFailure("cannot be replaced by one of the same owner and permissions") }
  }

  /// Where a file has a list, what its mode says of the group is the most that anyone listed may do:
  /// without the list, the group could do that.
  private func giveAccessControlListOfTarget() throws(FileFailure) -> Bool {
    #if os(Linux)
    AccessControlList.give(try AccessControlList(at: target), to: file)
    #else
    true
    #endif
  }

  /// Puts the new file in the place of the old.
  ///
  /// - Throws: What the system said; then there is the old file still.
  package func commit() throws(FileFailure) {
    guard rename(temporary, target) == 0 else { throw FileFailure("cannot be replaced") }
    isCommitted = true
  }

  /// Puts the new file in its place, unless there is one, which may have come meanwhile.
  ///
  /// - Returns: Whether it is the new file that is there.
  /// - Throws: The system's error.
  package func commitUnlessThere() throws(FileFailure) -> Bool {
    if link(temporary, target) == 0 { return true }
    if errno == EEXIST { return false }
    // Some file systems know no second name of a file.
    guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { throw FileFailure("cannot be made") }
    if access(target, F_OK) == 0 { return false }
    try commit()
    return true
  }
}
