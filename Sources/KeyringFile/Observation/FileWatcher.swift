#if EncryptedFile && os(Linux)
internal import Dispatch
internal import Glibc
internal import KeyringStorage

/// Calls a closure whenever something may have happened to the files of a folder, until it is
/// released: by [inotify](https://man7.org/linux/man-pages/man7/inotify.7.html).
///
/// Sendable because a source of Dispatch may be cancelled from any thread.
final class FileWatcher: @unchecked Sendable {
  private let source: any DispatchSourceRead

  init(_ folder: Folder, _ onEvent: @escaping @Sendable () -> Void) throws(FileFailure) {
    let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard descriptor >= 0 else { throw FileFailure("cannot be watched") }
    guard Self.watch(folder, descriptor) else {
      let failure = FileFailure("cannot be watched")
      close(descriptor)
      throw failure
    }
    source = DispatchSource.makeReadSource(
      fileDescriptor: descriptor, queue: DispatchQueue(label: "swift-keyring file"))
    source.setEventHandler {
      Self.discardEvents(descriptor)
      // The folder may be another by now; for the same one it changes nothing.
      _ = Self.watch(folder, descriptor)
      onEvent()
    }
    source.setCancelHandler { close(descriptor) }
    source.activate()
  }

  deinit { source.cancel() }

  private static func watch(_ folder: Folder, _ descriptor: Int32) -> Bool {
    let events =
      IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF
    return inotify_add_watch(descriptor, folder.path, UInt32(events)) >= 0
  }

  /// What has happened is seen from the file; that something has is enough.
  private static func discardEvents(_ descriptor: Int32) {
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
    }
  }
}
#endif
