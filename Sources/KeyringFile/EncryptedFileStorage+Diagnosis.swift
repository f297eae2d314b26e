#if EncryptedFile
public import KeyringStorage

extension EncryptedFileStorage {
  /// Finds out whose the file is and in which format, whether its key opens it, and whether it can be
  /// written.
  ///
  /// Nobody is asked for a passphrase, and no keyring is unlocked. Unless the storage has opened the
  /// file before, such a key is not tried, so that neither a wrong one is noticed nor damage beyond the
  /// header. Any other wrong key is, also one of the wrong kind, and damage anywhere.
  ///
  /// - Parameter writing: Whether an item is stored, read and removed again to see that this works; a
  ///   passphrase is asked for then.
  /// - Returns: What was found out; `.noStorage` where there is no file, and none can be made, for want
  ///   of the credential or of a folder that can be written. A file that is there and cannot be used is
  ///   another failure: `.accessDenied`, `.keyNotFound`, `.wrongKey`, `.damaged`.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: backendName)
    file.diagnose(&diagnosis)
    if writing, diagnosis.failure == nil { diagnosis.probeWriting(in: self) }
    return diagnosis
  }
}
#endif
