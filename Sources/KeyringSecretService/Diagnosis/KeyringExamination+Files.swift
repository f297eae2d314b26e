// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension KeyringExamination {
  /// Adds the storage's collection if its file isn't encrypted, and each file whose collection isn't listed.
  ///
  /// Nothing is added if the provider's files can't be seen.
  func addCollectionFiles(to diagnosis: inout StorageDiagnosis) async throws(SecureStorageError) {
    guard call.provider.keepsCollectionsInFiles else { return }
    if let path = try await call.namedCollection(),
      let current = await HiddenCollections(call).fileIdentity(of: path)
    {
      let files = CollectionFile.directories.flatMap { (try? CollectionFile.files(in: $0)) ?? [] }
      if let text = files.first(where: { $0.isOf(current) && $0.content == .text }) {
        addText(text, to: &diagnosis)
      }
    }
    let files = try await HiddenCollections(call).unlistedFiles()
    let needed = try await HiddenCollections(call).fileWithItems(among: files)
    for file in files {
      let error = await HiddenCollections(call).notListed(file)
      if file == needed {
        diagnosis.add("collection's file", error)
      } else {
        diagnosis.add(
          "collection's file", error.message, recoverySuggestion: error.recoverySuggestion)
      }
    }
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
}
#endif
