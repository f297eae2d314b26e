#if EncryptedFile && os(Linux)
public import KeyringStorage

extension EncryptedFileStorage: ObservableStorage {
  /// Has a closure called with every change of the items, by this process and others.
  ///
  /// What was changed between two looks at the file is reported as one change of each item. When
  /// the file cannot be read, being damaged or encrypted with another key, that is
  /// ``/KeyringStorage/StorageEvent/interrupted``. So it is where somebody would have to be asked for
  /// that key; the next operation of this storage asks, and what has changed is reported then. And so
  /// it is while the file has no folder.
  ///
  /// The file is read first, so the key is needed, and a missing folder is made.
  ///
  /// - Parameters:
  ///   - query: Not looked at: every change is named.
  ///   - observer: What to call.
  /// - Returns: The observation.
  /// - Throws: What reading throws, and `.backend` where the system watches no more folders.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageObservation {
    try file.observe(observer)
  }
}
#endif
