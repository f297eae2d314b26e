#if EncryptedFile && os(Linux)
internal import KeyringStorage

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// What the system tells of a file, there or not: by
/// [inotify](https://man7.org/linux/man-pages/man7/inotify.7.html) of its folder, or while there is
/// none of the nearest that it would be in.
///
/// Sendable because one thread at a time uses it.
final class FolderWatch: @unchecked Sendable {
  let descriptor: Int32
  private let place: FilePlace
  /// What the system calls the folder that is watched; negative for none.
  private var number: Int32 = -1

  /// Whether it is the folder of the file that is watched.
  private(set) var isInPlace = false

  init(_ place: FilePlace) throws(FileFailure) {
    self.place = place
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard descriptor >= 0 else { throw FileFailure("cannot be watched") }
    number = add(place.folder)
    guard number >= 0 else { throw FileFailure("cannot be watched") }
    isInPlace = true
  }

  deinit { close(descriptor) }

  private func add(_ folder: Folder) -> Int32 {
    let events =
      folder.path == place.folder.path
      ? IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE : IN_CREATE | IN_MOVED_TO
    return inotify_add_watch(
      descriptor, folder.path, UInt32(events | IN_DELETE_SELF | IN_MOVE_SELF))
  }

  /// Watches what is there now; for the same folder it changes nothing.
  private func watchAgain() {
    var last: Int32
    repeat {
      last = number
      number = addNearest()
      if last >= 0, last != number { inotify_rm_watch(descriptor, last) }
      // Until it was watched, a nearer one may have been made.
    } while number != last
  }

  private func addNearest() -> Int32 {
    var folder = place.folder
    while true {
      let number = add(folder)
      isInPlace = number >= 0 && folder.path == place.folder.path
      let outer = Folder(of: folder.path)
      if number >= 0 || outer.path == folder.path { return number }
      folder = outer
    }
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
    if isTold { watchAgain() }
    return isTold
  }

  private func isAboutFile(_ events: UnsafeRawBufferPointer) -> Bool {
    if !isInPlace { return true }
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
