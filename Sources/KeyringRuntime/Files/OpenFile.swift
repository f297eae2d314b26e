// SPDX-License-Identifier: Apache-2.0

package import KeyringCore
package import KeyringPlatform

/// An open file or directory, which is closed when the object is released.
package final class OpenFile: Sendable {
  /// The file descriptor.
  package let descriptor: Int32

  /// Opens a file.
  ///
  /// Only its owner can use a file that is created.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - flags: The flags of open(2). The file is also closed when another program is started.
  ///   - directory: The directory that a relative path begins in. The default is the current directory.
  /// - Throws: The failure to open the file.
  package init(
    _ path: String, _ flags: Int32, in directory: OpenFile? = nil
  ) throws(FileFailure) {
    descriptor = openat(directory?.descriptor ?? AT_FDCWD, path, flags | O_CLOEXEC, 0o600)
    if descriptor >= 0 { return }
    throw FileFailure(errno == ENOENT ? "doesn't exist" : "can't be opened")
  }

  /// Opens a file for reading.
  ///
  /// A pipe is opened at once, before it has a writer.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - flags: Further flags of open(2).
  ///   - directory: The directory that a relative path begins in. The default is the current directory.
  /// - Returns: The file, or `nil` for a missing one.
  /// - Throws: The failure to open the file.
  package static func reading(
    _ path: String, _ flags: Int32 = 0, in directory: OpenFile? = nil
  ) throws(FileFailure) -> OpenFile? {
    do throws(FileFailure) {
      return try OpenFile(path, flags | O_RDONLY | O_NONBLOCK | O_NOCTTY, in: directory)
    } catch {
      if error.number == ENOENT { return nil }
      throw error
    }
  }

  #if os(Linux)
  /// Opens a file beneath a directory for reading.
  ///
  /// Its path and all links must stay in that directory.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - directory: The directory that the path begins in.
  /// - Returns: The file; `nil` for a missing one, for a path that leads out of the directory, and on a
  ///   system that can't tell.
  static func reading(_ path: String, beneath directory: OpenFile) -> OpenFile? {
    let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    let descriptor = swift_keyring_open_beneath(directory.descriptor, path, flags)
    return descriptor >= 0 ? OpenFile(descriptor) : nil
  }
  #endif

  /// Opens a new file for writing.
  ///
  /// - Parameter path: The path of the file. Nothing may exist there.
  /// - Returns: The file.
  /// - Throws: The failure to create the file.
  package static func new(_ path: String) throws(FileFailure) -> OpenFile {
    try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
  }

  /// Opens a directory.
  ///
  /// - Parameter path: The path of the directory.
  /// - Returns: The directory.
  /// - Throws: The failure to open the directory.
  package static func directory(_ path: String) throws(FileFailure) -> OpenFile {
    try OpenFile(path, O_RDONLY | O_DIRECTORY)
  }

  /// Takes over an open file.
  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Returns the size, owner, permissions and times of the file.
  ///
  /// - Returns: The result of fstat(2).
  /// - Throws: The failure to read the status.
  package func status() throws(FileFailure) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileFailure("can't be read") }
    return status
  }

  /// Returns the status of a regular file.
  ///
  /// - Parameter largest: The maximum size of the file, in bytes.
  /// - Returns: The result of fstat(2).
  /// - Throws: The failure of a larger file, or of one that is no regular file.
  package func regularStatus(atMost largest: Int) throws(FileFailure) -> stat {
    let status = try status()
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw FileFailure("isn't a regular file", number: EINVAL, kind: .unsuitable)
    }
    guard status.st_size <= largest else {
      throw FileFailure("is larger than \(largest) bytes", number: EFBIG, kind: .unsuitable)
    }
    return status
  }

  /// Returns `true` for a file that only its owner, root and this program's user have permissions for.
  ///
  /// - Returns: `false` for a file of which others have one, too.
  /// - Throws: The failure to read the permissions.
  package func isPrivate() throws(FileFailure) -> Bool {
    let mode = try status().st_mode & 0o077
    #if os(Linux)
    // With a list, these bits are the maximum for everyone in it. systemd (since 254) gives a service its
    // credentials so.
    if mode & 0o007 == 0, mode != 0, let list = try AccessControlList(of: descriptor) {
      return list.isOnly(for: geteuid())
    }
    #endif
    return mode == 0
  }

  /// Reads a whole regular file into locked memory.
  ///
  /// - Parameter largest: The maximum size of the file, in bytes.
  /// - Returns: The content.
  /// - Throws: The failure to read the file, for example because it's larger, grows during the read, or isn't
  ///   a regular file.
  package func secret(atMost largest: Int) throws(FileFailure) -> Secret {
    let size = try Int(regularStatus(atMost: largest).st_size)
    // One more byte shows whether the file has grown.
    let content = try Secret(capacity: size + 1) { (room) throws(FileFailure) in
      try read(into: room)
    }
    guard content.count <= size else {
      throw FileFailure("has grown while it was read", number: EAGAIN, kind: .grown)
    }
    return content
  }

  /// Reads until the end of the file or of the buffer.
  ///
  /// - Parameter buffer: The buffer for the bytes.
  /// - Returns: The number of bytes that were read.
  /// - Throws: The failure to read the file.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int {
    var count = 0
    while count < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
      let result = unistdRead(descriptor, rest.baseAddress, rest.count)
      if result < 0, errno == EINTR { continue }
      guard result >= 0 else { throw FileFailure("can't be read") }
      if result == 0 { break }
      count += result
    }
    return count
  }

  /// Writes bytes to the file.
  ///
  /// - Parameter bytes: The bytes, all of which are written.
  /// - Throws: The failure to write the file.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(FileFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let result = unistdWrite(descriptor, part.baseAddress, part.count)
      if result < 0, errno == EINTR { continue }
      guard result > 0 else { throw FileFailure("can't be written") }
      rest = rest.dropFirst(result)
    }
  }

  /// Waits for the written bytes to be on the disk.
  ///
  /// - Throws: The failure to write the bytes to the disk.
  package func sync() throws(FileFailure) {
    guard fsync(descriptor) == 0 else { throw FileFailure("can't be written") }
  }
}

// Inside the type, its methods have these names.
private let unistdRead = read(_:_:_:)
let unistdWrite = write(_:_:_:)
