// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform

// Bytes at a place of a file, for several programs that use it at the same time.

extension OpenFile {
  /// Reads bytes at a place.
  ///
  /// - Parameters:
  ///   - place: The number of bytes before them.
  ///   - count: The number of bytes.
  /// - Returns: The bytes, or fewer at the end of the file.
  /// - Throws: The failure to read them.
  package func bytes(at place: Int, count: Int) throws(FileFailure) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let read = pread(descriptor, &bytes, count, off_t(place))
    guard read >= 0 else { throw FileFailure("can't be read") }
    bytes.removeLast(count - read)
    return bytes
  }

  /// Writes bytes at a place.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - place: The number of bytes before them.
  /// - Throws: The failure to write all of them.
  package func write(_ bytes: [UInt8], at place: Int) throws(FileFailure) {
    guard pwrite(descriptor, bytes, bytes.count, off_t(place)) == bytes.count else {
      throw FileFailure("can't be written")
    }
  }

  /// Locks a byte, which needn't exist, until this open file is closed.
  ///
  /// A process that is killed closes its files. A process that was forked has the same open file.
  ///
  /// - Parameters:
  ///   - place: The number of bytes before it.
  ///   - isWaiting: Whether to wait for others. Nothing but the lock ends the wait.
  /// - Returns: `false` for a byte that another open file has locked, of this process or another.
  /// - Throws: Any other failure to lock it.
  package func lockByte(at place: Int64, waiting isWaiting: Bool) throws(FileFailure) -> Bool {
    while !setLock(F_WRLCK, at: place, isWaiting ? Platform.waitToLockBytes : Platform.lockBytes) {
      if errno == EINTR { continue }
      if errno == EAGAIN || errno == EACCES { return false }
      throw FileFailure("can't be locked")
    }
    return true
  }

  /// Unlocks a byte, also for the processes that were forked meanwhile.
  ///
  /// - Parameter place: The number of bytes before it.
  package func unlockByte(at place: Int64) {
    _ = setLock(F_UNLCK, at: place, Platform.lockBytes)
  }

  private func setLock(_ type: Int32, at place: Int64, _ command: Int32) -> Bool {
    var lock = flock()
    lock.l_type = Int16(type)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = off_t(place)
    lock.l_len = 1
    return fcntl(descriptor, command, &lock) == 0
  }
}
