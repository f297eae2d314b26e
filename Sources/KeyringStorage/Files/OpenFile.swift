#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#elseif canImport(Darwin)
package import Darwin
#endif

/// An open file or folder, closed when nobody holds it any more.
package final class OpenFile: Sendable {
  /// The number that the system knows it by.
  package let descriptor: Int32

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: Where it is.
  ///   - flags: How to open it, as open(2) has it; it is closed when another program is started.
  ///   - mode: The permissions of a file that is created.
  /// - Throws: The system's error.
  package init(_ path: String, _ flags: Int32, mode: mode_t = 0o600) throws(FileFailure) {
    descriptor = open(path, flags | O_CLOEXEC, mode)
    if descriptor < 0 { throw FileFailure("cannot be opened") }
  }

  deinit { close(descriptor) }

  /// Its size, owner, permissions and times.
  ///
  /// - Returns: What fstat(2) tells.
  /// - Throws: The system's error.
  package func status() throws(FileFailure) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileFailure("cannot be read") }
    return status
  }

  /// Reads until the end of the file or of the buffer.
  ///
  /// - Parameter buffer: Where to put the bytes.
  /// - Returns: How many there were.
  /// - Throws: The system's error.
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

  /// Writes all of some bytes.
  ///
  /// - Parameter bytes: The bytes.
  /// - Throws: The system's error.
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

  /// Waits until what was written is on the disk.
  ///
  /// - Throws: The system's error.
  package func sync() throws(FileFailure) {
    guard fsync(descriptor) == 0 else { throw FileFailure("cannot be written") }
  }
}

// The names are taken within the type.
private let unistdRead = read(_:_:_:)
private let unistdWrite = write(_:_:_:)
