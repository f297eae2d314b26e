// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import KeyringPlatform

/// A watch for events of a file, or of all files in a directory, present or not.
///
/// It uses [inotify](https://man7.org/linux/man-pages/man7/inotify.7.html) on the directory. For a missing
/// directory, it watches the nearest ancestor that exists.
///
/// The class is Sendable: one thread at a time uses it.
package final class DirectoryWatch: @unchecked Sendable {
  /// The descriptor that becomes readable with an event.
  package let descriptor: Int32
  private let directory: Directory
  /// The name of the file, or `nil` for all files.
  private let name: String?
  /// The system's number of the watched directory; negative for none.
  private var number: Int32 = -1

  /// Whether the watched directory is the directory itself, and not one above it.
  package private(set) var isInPlace = false

  /// Watches a directory that exists now.
  ///
  /// - Parameters:
  ///   - directory: The directory.
  ///   - path: The path of the file in it, or `nil` for all files.
  /// - Throws: The failure to watch the directory.
  package init(_ directory: Directory, for path: String? = nil) throws(FileFailure) {
    self.directory = directory
    name = path?.split(separator: "/").last.map(String.init)
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard descriptor >= 0 else { throw FileFailure("can't be watched") }
    number = add(directory)
    guard number >= 0 else { throw FileFailure("can't be watched") }
    isInPlace = true
  }

  deinit { close(descriptor) }

  private func add(_ directory: Directory) -> Int32 {
    var events =
      directory.path == self.directory.path
      ? IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE : IN_CREATE | IN_MOVED_TO
    // This also tells of new permissions of the directory.
    if name == nil { events |= IN_ATTRIB }
    return inotify_add_watch(
      descriptor, directory.path, UInt32(events | IN_DELETE_SELF | IN_MOVE_SELF))
  }

  /// Watches the nearest existing directory; if it's the same as before, nothing changes.
  package func watchAgain() {
    var last: Int32
    repeat {
      last = number
      number = addNearest()
      // This fails if the directory is gone, which has ended its watch.
      if last >= 0, last != number { inotify_rm_watch(descriptor, last) }
      // A nearer directory may have been created before the watch was added.
    } while number != last
  }

  private func addNearest() -> Int32 {
    var directory = directory
    while true {
      let number = add(directory)
      isInPlace = number >= 0 && directory.path == self.directory.path
      let outer = Directory(of: directory.path)
      if number >= 0 || outer.path == directory.path { return number }
      directory = outer
    }
  }

  /// Reads the pending events without waiting.
  ///
  /// The events say that something may have happened. The file itself shows the changes.
  ///
  /// - Returns: `true` for an event about the file, rather than others in its directory.
  package func takeEvents() -> Bool {
    var isTold = false
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        if count <= 0 { break }
        if isAboutFile(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { isTold = true }
      }
    }
    if isTold { watchAgain() }
    return isTold
  }

  private func isAboutFile(_ events: UnsafeRawBufferPointer) -> Bool {
    if !isInPlace { return true }
    var rest = events
    while !rest.isEmpty {
      let event = rest.loadUnaligned(as: inotify_event.self)
      let end = MemoryLayout<inotify_event>.size + Int(event.len)
      // An event without a name is about the directory itself, or says that other events were lost.
      let name = UnsafeRawBufferPointer(rebasing: rest[MemoryLayout<inotify_event>.size..<end])
      guard let wanted = self.name else { return true }
      if name.isEmpty || name.prefix(while: { $0 != 0 }).elementsEqual(wanted.utf8) {
        return true
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[end...])
    }
    return false
  }
}
#endif
