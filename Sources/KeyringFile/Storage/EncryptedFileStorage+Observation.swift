// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
public import KeyringStorage

extension EncryptedFileStorage: ObservableStorage {
  /// A minute on a network file system or one of a program (FUSE), and `nil` on any other.
  public var cacheLifetime: Duration? {
    file.place.directory.reportsChanges ? nil : .cacheLifetime
  }

  /// Calls a closure for every change of the items, by this process and by others.
  ///
  /// Several changes of an item between two reads of the file are reported as one. The storage reports
  /// ``/KeyringStorage/StorageEvent/interrupted`` in these cases:
  ///
  /// - The file can't be read, because it's damaged or encrypted with another key.
  /// - The user would have to be asked for that key. The next operation of this storage asks, and the
  ///   changes are reported then.
  /// - The directory of the file doesn't exist.
  ///
  /// On a network file system or one of a program (FUSE), the system doesn't report all changes. The storage then
  /// also looks at the file each second.
  ///
  /// If a directory further up is renamed, or a symbolic link in the path leads elsewhere, the storage notices that at
  /// its next operation, or within about a minute.
  ///
  /// The file is read first. This needs the key, and creates the directory if it's missing.
  ///
  /// - Parameters:
  ///   - query: Ignored, because every change names its item.
  ///   - observer: The closure to call.
  /// - Returns: The subscription.
  /// - Throws: The errors of reading, or `.other` if the system can't watch more directories.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    try file.observe(observer)
  }
}
#endif
