// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension Operation {
  /// Adds the storage's collection if its file isn't encrypted, and each file whose collection isn't listed.
  ///
  /// Nothing is added if the provider's files can't be seen.
  func addCollectionFiles(to diagnosis: inout StorageDiagnosis) async throws(SecureStorageError) {
    guard provider.keepsCollectionsInFiles else { return }
    var listed: [CollectionFile.Identity] = []
    for collection in try await collections() {
      if let identity = await fileIdentity(of: collection) { listed.append(identity) }
    }
    let directories = CollectionFile.directories.map {
      (path: $0, files: CollectionFile.files(in: $0))
    }
    .filter { !$0.files.isEmpty }
    let current = try await currentIdentity()
    for (directory, files) in directories {
      let missing = files.filter { $0.isOfNone(listed) }
      if let current, let text = files.first(where: { $0.isOf(current) }),
        text.content == .text
      {
        addText(text, to: &diagnosis)
      }
      // The provider may use another directory, and one on another bus may be another user's.
      let isInUse =
        missing.count < files.count || directories.count == 1 && options.busAddress == nil
      let standard = CollectionFile.defaultName(in: directory)
      for file in missing where isInUse {
        let isNeeded =
          current == nil && options.collection == .default && file.name == standard
        addMissing(file, isNeeded: isNeeded, to: &diagnosis)
      }
    }
  }

  /// Returns the identity of the storage's collection, or `nil` if there is none.
  private func currentIdentity() async throws(SecureStorageError) -> CollectionFile.Identity? {
    guard let path = try await namedCollection() else { return nil }
    return await fileIdentity(of: path)
  }

  private func addText(_ file: CollectionFile, to diagnosis: inout StorageDiagnosis) {
    diagnosis.add(
      "collection's file",
      """
      \(file.path) isn't encrypted, because the collection has no password. The file changes some text of \
      other programs, and a line break in a secret of theirs can destroy it.
      """,
      recoverySuggestion: "Give the collection a password in your keyring manager.")
  }

  private func addMissing(
    _ file: CollectionFile, isNeeded: Bool, to diagnosis: inout StorageDiagnosis
  ) {
    let error = failure(
      .damaged,
      "The keyring doesn't list the collection in \(file.path), probably because the file is damaged.",
      recoverySuggestion:
        "Bring the file back from a backup, or move it away and store its secrets again. Then restart the keyring."
    )
    if isNeeded {
      diagnosis.add("collection's file", error)
    } else {
      diagnosis.add(
        "collection's file", error.message, recoverySuggestion: error.recoverySuggestion)
    }
  }
}
#endif
