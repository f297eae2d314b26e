// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
internal import Dispatch
internal import KeyringStorage

/// A watcher that calls a closure whenever something may have happened to a file, until it's released.
///
/// The class is Sendable because a Dispatch source can be cancelled from any thread.
final class FileWatcher: @unchecked Sendable {
  private let source: any DispatchSourceRead

  /// Creates a watcher with a closure that gets whether the file is watched.
  ///
  /// Without its directory, the file isn't watched.
  init(
    _ place: FileLocation, _ onEvent: @escaping @Sendable (_ isWatched: Bool) -> Void
  ) throws(FileFailure) {
    let watch = try DirectoryWatch(place)
    source = DispatchSource.makeReadSource(
      fileDescriptor: watch.descriptor, queue: DispatchQueue(label: "swift-keyring file"))
    source.setEventHandler {
      if watch.takeEvents() { onEvent(watch.isInPlace) }
    }
    // The source must not outlive the descriptor.
    source.setCancelHandler { withExtendedLifetime(watch) {} }
    source.activate()
  }

  deinit { source.cancel() }
}
#endif
