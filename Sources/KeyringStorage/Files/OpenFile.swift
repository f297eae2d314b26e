#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#elseif canImport(Darwin)
package import Darwin
#endif

/// An open file or folder, which is closed when the object is released.
package final class OpenFile: Sendable {
  /// The file descriptor.
  package let descriptor: Int32

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - flags: The flags of open(2). The file is also closed when another program is started.
  ///   - mode: The permissions for a file that is created.
  /// - Throws: `FileFailure` if the file can't be opened.
  package init(_ path: String, _ flags: Int32, mode: mode_t = 0o600) throws(FileFailure) {
    descriptor = open(path, flags | O_CLOEXEC, mode)
    if descriptor < 0 { throw FileFailure("cannot be opened") }
  }

  deinit { close(descriptor) }

  /// Returns the size, owner, permissions and times of the file.
  ///
  /// - Returns: The result of fstat(2).
  /// - Throws: `FileFailure` if the status can't be read.
  package func status() throws(FileFailure) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileFailure("cannot be read") }
    return status
  }

  /// Reads until the end of the file or of the buffer.
  ///
  /// - Parameter buffer: The buffer for the bytes.
  /// - Returns: The number of bytes that were read.
  /// - Throws: `FileFailure` if the file can't be read.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int {
    var count = 0
    while count < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
      let result = unistdRead(descriptor, rest.baseAddress, rest.count)
      if result < 0, errno == EINTR { continue }
      guard result >= 0 else { throw FileFailure("cannot be read") }
      if result == 0 { break }
      count += result
    }
    return count
  }

  /// Writes bytes to the file.
  ///
  /// - Parameter bytes: The bytes, all of which are written.
  /// - Throws: `FileFailure` if the file can't be written.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(FileFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let result = unistdWrite(descriptor, part.baseAddress, part.count)
      if result < 0, errno == EINTR { continue }
      guard result > 0 else { throw FileFailure("cannot be written") }
      rest = rest.dropFirst(result)
    }
  }

  /// Waits until the written bytes are on the disk.
  ///
  /// - Throws: `FileFailure` if the bytes can't be written to the disk.
  package func sync() throws(FileFailure) {
    guard fsync(descriptor) == 0 else { throw FileFailure("cannot be written") }
  }
}

// Inside the type, its methods have these names.
private let unistdRead = read(_:_:_:)
private let unistdWrite = write(_:_:_:)
