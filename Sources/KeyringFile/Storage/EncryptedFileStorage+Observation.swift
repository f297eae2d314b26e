// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
internal import KeyringRuntime
public import KeyringStorage

extension EncryptedFileStorage: ObservableStorage {
  /// A minute on a network file system or one of a program (FUSE), and `nil` on any other.
  public var cacheLifetime: Duration? {
    file.place.directory.reportsChanges ? nil : .cacheLifetime
  }

  /// Calls a closure for every change of the items, by this process and by others.
  ///
  /// It reads the file first, which needs the key. As long as only a question to the user would open the file,
  /// the storage reports ``/KeyringStorage/StorageEvent/interrupted``.
  ///
  /// - Parameters:
  ///   - query: Ignored, because every change names its item.
  ///   - observer: The closure to call.
  /// - Returns: The subscription.
  /// - Throws: The errors of reading, or `.other` for too many watched directories.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    try file.observe(observer)
  }
}
#endif
