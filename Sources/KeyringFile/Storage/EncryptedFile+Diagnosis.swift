// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import KeyringRuntime
internal import KeyringSealing
internal import KeyringStorage

internal import KeyringPlatform

extension EncryptedFile {
  /// Checks the file, its key, and its directory, and stops at the first problem.
  func diagnose(_ diagnosis: inout StorageDiagnosis) {
    var subject = "file"
    do throws(SecureStorageError) {
      let header = try diagnoseFile(&diagnosis, subject)
      subject = "key"
      try diagnoseKey(&diagnosis, subject, header)
      subject = "directory"
      try diagnoseDirectory(&diagnosis, subject, isNew: header == nil)
    } catch {
      diagnosis.add(subject, error.during(.diagnose))
    }
  }

  private func diagnoseFile(
    _ diagnosis: inout StorageDiagnosis, _ subject: String
  ) throws(SecureStorageError) -> FileHeader? {
    try place.check()
    guard let (file, _, bytes) = try place.read() else {
      diagnosis.add(subject, "\(place.path), which the first save creates")
      return nil
    }
    let header = try FileHeader(bytes, place)
    let status = try translating(file.status())
    let mode = status.st_mode & 0o7777
    var advice: [String] = []
    if try !translating(file.isPrivate()) {
      advice.append("Other users can copy it. Run chmod 600 on it.")
    }
    if status.st_nlink > 1 {
      advice.append(
        "It has \(status.st_nlink) names. A save replaces this one only, and the others keep the old secrets: remove "
          + "them. find -inum \(status.st_ino) finds them.")
    }
    diagnosis.add(
      subject,
      "\(place.path), of user \(status.st_uid), mode \(String(mode, radix: 8)), "
        + "format \(FileHeader.version)",
      recoverySuggestion: advice.isEmpty ? nil : advice.joined(separator: " "))
    return header
  }

  private func diagnoseKey(
    _ diagnosis: inout StorageDiagnosis, _ subject: String, _ header: FileHeader?
  ) throws(SecureStorageError) {
    let source = keys.source
    let other = source.storage?.diagnose()
    if let other {
      diagnosis.add(other)
      if let failure = other.failure {
        // The items are in this file even if its key is unavailable, so the storage must not be
        // reported as unavailable.
        guard header != nil, other.canBeSkipped else { throw failure }
        throw SecureStorageError(
          .keyNotFound, "The key for \(place.path) isn't available. \(failure.message)",
          recoverySuggestion: failure.recoverySuggestion, underlying: failure.underlying)
      }
    }
    do throws(SecureStorageError) {
      if header == nil {
        try diagnoseNewKey(&diagnosis, subject, source)
      } else {
        _ = try content(.diagnose, .inspection)
        diagnosis.add(subject, "a \(source), which opens the file")
      }
    } catch {
      guard error.code == .locked else { throw error }
      diagnosis.add(
        subject,
        source.kind == .storage
          ? "a \(source), which is locked; a diagnosis doesn't unlock it"
          : "a \(source); a diagnosis doesn't ask for it")
    }
    diagnosis.protection = other?.protection ?? source.protection()
  }

  /// Checks the key of a file that hasn't been created yet.
  private func diagnoseNewKey(
    _ diagnosis: inout StorageDiagnosis, _ subject: String, _ source: KeySource
  ) throws(SecureStorageError) {
    do throws(SecureStorageError) {
      _ = try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
        try await source.secret(for: place.keyRequest(.inspection))
      }
      diagnosis.add(subject, "a \(source), which is available")
    } catch {
      guard error.code == .keyNotFound else { throw error }
      // Another cause means that there is a key that can't be used, or that the key can't be created.
      let isMissing = error.underlying.map { $0 == FileFailure("", number: ENOENT).underlying }
      if source.createsKey, isMissing ?? true {
        return diagnosis.add(subject, "a \(source), which the first save creates")
      }
      // Nothing is stored on this machine, and nothing can be stored.
      var error = error
      error.code = .noStorage
      throw error
    }
  }

  private func diagnoseDirectory(
    _ diagnosis: inout StorageDiagnosis, _ subject: String, isNew: Bool
  ) throws(SecureStorageError) {
    if let obstacle = place.directory.obstacle {
      var error = SecureStorageError(place, obstacle)
      error.code = .noStorage
      throw error
    }
    if let obstacle = place.writingObstacle {
      var error = SecureStorageError(place, obstacle)
      guard error.code == .accessDenied else { throw error }
      // The content of a file that is there can still be read.
      error.code = isNew ? .noStorage : .readOnly
      throw error
    }
    let isThere = place.directory.nearestExisting.path == place.directory.path
    diagnosis.add(
      subject,
      "\(place.directory.path), which \(isThere ? "can be written" : "the first save creates")")
  }
}
#endif
