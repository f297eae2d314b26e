#if EncryptedFile && os(Linux)
internal import Dispatch
internal import KeyringStorage

/// Calls a closure whenever something may have happened to a file, until it is released.
///
/// Sendable because a source of Dispatch may be cancelled from any thread.
final class FileWatcher: @unchecked Sendable {
  private let source: any DispatchSourceRead

  /// The closure gets whether the file is watched, which it is not without its folder.
  init(
    _ place: FilePlace, _ onEvent: @escaping @Sendable (_ isWatched: Bool) -> Void
  ) throws(FileFailure) {
    let watch = try FolderWatch(place)
    source = DispatchSource.makeReadSource(
      fileDescriptor: watch.descriptor, queue: DispatchQueue(label: "swift-keyring file"))
    source.setEventHandler {
      if watch.takeEvents() { onEvent(watch.isInPlace) }
    }
    // The source may not outlive the descriptor.
    source.setCancelHandler { withExtendedLifetime(watch) {} }
    source.activate()
  }

  deinit { source.cancel() }
}
#endif
