// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform

/// A new file that atomically replaces another.
///
/// A reader finds either the complete old content or the complete new content, even if this process ends in
/// between.
///
/// A replacement that ends before ``commit()`` leaves nothing behind.
package final class FileReplacement {
  private let file: OpenFile
  private let target: String
  private let temporary: String
  private var isCommitted = false

  /// Writes the new content to the disk, under a temporary name.
  ///
  /// The new file gets the owner and the permissions of the old one. It gets the group of the old one, for a
  /// group that has any permissions. On Linux it also gets the access control list. Before that, the new file
  /// is this user's alone.
  ///
  /// - Parameters:
  ///   - target: The path of the file to replace, which doesn't need to exist. A link is replaced by a file
  ///     that is this user's alone.
  ///   - temporary: The path of the new file, in the same directory. Nothing may exist there. The default is
  ///     a new path.
  ///   - content: The new content.
  /// - Throws: The failure to write the new file.
  package init(
    of target: String, through temporary: String? = nil, with content: UnsafeRawBufferPointer
  ) throws(FileFailure) {
    let temporary = temporary ?? Directory(of: target).temporaryPath()
    (self.target, self.temporary) = (target, temporary)
    do throws(FileFailure) {
      file = try OpenFile.new(temporary)
    } catch {
      throw FileFailure("can't be replaced", number: error.number)
    }
    // From here on, `deinit` removes the file.
    try giveAttributesOfTarget()
    try file.write(content)
    try file.sync()
  }

  deinit {
    // A failure can't be reported here, and the name may belong to another writer's file by now.
    if !isCommitted, (try? isInPlace()) == true { unlink(temporary) }
  }

  /// Opens the new file again for reading.
  ///
  /// The returned file stays the new one, even if another process replaces it as soon as it's in its place.
  ///
  /// - Returns: The file, or `nil` for a name that is gone or belongs to another file.
  /// - Throws: The failure to open the file.
  package func opened() throws(FileFailure) -> OpenFile? {
    guard try isInPlace(), let found = try OpenFile.reading(temporary, O_NOFOLLOW) else {
      return nil
    }
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
      throw FileFailure("can't be found")
    }
    // A link has all permissions, and they mean nothing.
    if old.st_mode & S_IFMT != S_IFREG { return }
    let new = try file.status()
    // A group without permissions doesn't need to be kept. It can't be kept if this user no longer belongs
    // to it.
    let group = old.st_mode & 0o070 == 0 ? new.st_gid : old.st_gid
    guard
      (old.st_uid, group) == (new.st_uid, new.st_gid)
        || fchown(file.descriptor, old.st_uid, group) == 0,
      try giveAccessControlListOfTarget(),
      fchmod(file.descriptor, old.st_mode & 0o7777) == 0
    else { throw FileFailure("can't be replaced by one of the same owner and permissions") }
  }

  /// Copies the access control list of the old file, if any.
  ///
  /// In a file with such a list, the group permissions of the mode are the maximum for everyone in the
  /// list. Without the list, the group itself would get these permissions.
  private func giveAccessControlListOfTarget() throws(FileFailure) -> Bool {
    #if os(Linux)
    AccessControlList.give(try AccessControlList(at: target), to: file.descriptor)
    #else
    true
    #endif
  }

  /// Puts the new file in the place of the old one.
  ///
  /// - Throws: The failure to rename the file. The old file is then still there.
  package func commit() throws(FileFailure) {
    guard rename(temporary, target) == 0 else { throw FileFailure("can't be replaced") }
    isCommitted = true
  }

  /// Puts the new file in its place, unless a file is already there.
  ///
  /// Such a file may have appeared in the meantime.
  ///
  /// - Returns: `true` for a new file in its place.
  /// - Throws: The failure to put the file there.
  package func commitUnlessThere() throws(FileFailure) -> Bool {
    // Some file systems don't support a second name for a file, or a rename that replaces nothing.
    let isUnsupported = [EPERM, EOPNOTSUPP, ENOSYS, EINVAL].contains
    if link(temporary, target) == 0 { return true }
    if errno == EEXIST { return false }
    guard isUnsupported(errno) else { throw FileFailure("can't be created") }
    #if os(Linux)
    if swift_keyring_rename_unless_there(temporary, target) == 0 {
      isCommitted = true
      return true
    }
    if errno == EEXIST { return false }
    guard isUnsupported(errno) else { throw FileFailure("can't be created") }
    #endif
    return try commitUnlessThereWithLock()
  }

  /// Puts the new file in its place if nothing else in this package is doing so, unless a file is already there.
  ///
  /// Without locks for directories, either, the later of two processes replaces the file of the earlier one.
  ///
  /// - Returns: `true` for a new file in its place.
  /// - Throws: The failure to put the file there.
  package func commitUnlessThereWithLock() throws(FileFailure) -> Bool {
    let directory = try OpenFile.directory(Directory(of: target).path)
    return try withExtendedLifetime(directory) { () throws(FileFailure) in
      while flock(directory.descriptor, LOCK_EX) != 0, errno == EINTR {}
      if access(target, F_OK) == 0 { return false }
      try commit()
      return true
    }
  }
}
