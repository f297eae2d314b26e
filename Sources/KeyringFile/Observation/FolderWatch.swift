#if EncryptedFile && os(Linux)
internal import Glibc
internal import KeyringStorage

/// What the system tells of a file, there or not: by
/// [inotify](https://man7.org/linux/man-pages/man7/inotify.7.html) of its folder.
///
/// Sendable because one thread at a time uses it.
final class FolderWatch: @unchecked Sendable {
  let descriptor: Int32
  private let place: FilePlace

  init(_ place: FilePlace) throws(FileFailure) {
    self.place = place
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard descriptor >= 0 else { throw FileFailure("cannot be watched") }
    guard watch() else { throw FileFailure("cannot be watched") }
  }

  deinit { close(descriptor) }

  private func watch() -> Bool {
    let events =
      IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF
    return inotify_add_watch(descriptor, place.folder.path, UInt32(events)) >= 0
  }

  /// Takes what was told since, without waiting.
  ///
  /// What has happened is seen from the file; that something may have is enough.
  ///
  /// - Returns: Whether any of it is about the file, and not about others in its folder.
  func takeEvents() -> Bool {
    var isTold = false
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        if count <= 0 { break }
        if isAboutFile(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { isTold = true }
      }
    }
    // The folder may be another by now; for the same one it changes nothing.
    if isTold { _ = watch() }
    return isTold
  }

  private func isAboutFile(_ events: UnsafeRawBufferPointer) -> Bool {
    var rest = events
    while !rest.isEmpty {
      let event = rest.loadUnaligned(as: inotify_event.self)
      let end = MemoryLayout<inotify_event>.size + Int(event.len)
      // One without a name is about the folder itself, or says that others were lost.
      let name = UnsafeRawBufferPointer(rebasing: rest[MemoryLayout<inotify_event>.size..<end])
      if name.isEmpty || name.prefix(while: { $0 != 0 }).elementsEqual(place.name.utf8) {
        return true
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[end...])
    }
    return false
  }
}
#endif
