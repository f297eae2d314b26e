// SPDX-License-Identifier: Apache-2.0

import FileStorage
import KeyringStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The name of a file that doesn't exist yet, and that is removed with the last reference to it.
final class TemporaryFile: Sendable {
  let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")

  deinit {
    guard FileManager.default.fileExists(atPath: url.path) else { return }
    do {
      try FileManager.default.removeItem(at: url)
    } catch {
      print("The file \(url.path) is still there: \(error)")
    }
  }
}

/// A ``FileStorage`` whose file is removed when the test is over.
struct TemporaryStorage: BlockingStorage {
  private let file: TemporaryFile
  private let storage: FileStorage

  init() {
    file = TemporaryFile()
    storage = FileStorage(at: file.url)
  }

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try storage.save(item, mode: mode)
  }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try storage.items(matching: query)
  }

  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try storage.removeItems(matching: query)
  }
}
