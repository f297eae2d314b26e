// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
public import KeyringStorage

extension EncryptedFileStorage {
  /// Checks the owner and the format of the file, its key, and whether the file can be written.
  ///
  /// It doesn't ask for a passphrase and doesn't unlock a keyring. Unless the storage has opened the file
  /// before, such a key isn't tried, so a wrong key or damage beyond the header isn't noticed. Any other
  /// wrong key is noticed, including one of the wrong kind, and so is damage anywhere in the file.
  ///
  /// - Parameter writing: Pass `true` to also check that an item can be stored, read, and removed. This
  ///   asks for a passphrase if one is needed.
  /// - Returns: The diagnosis. Its failure is `.noStorage` if there is no file and none can be created,
  ///   because the credential is missing or there is no writable directory. If there is a file that can't be
  ///   used, the failure is another one: `.accessDenied`, `.keyNotFound`, `.wrongKey`, or `.damaged`.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: backendName)
    file.diagnose(&diagnosis)
    if writing, diagnosis.failure == nil { diagnosis.probeWriting(in: self) }
    return diagnosis
  }
}
#endif
