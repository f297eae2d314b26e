// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A directory that is removed together with this object.
final class TemporaryDirectory: Sendable {
  let path: String

  init() {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("keyring-tool-\(UUID().uuidString)").path
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    } catch {
      fatalError("There is no temporary directory: \(error)")
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a file in the directory.
  func path(_ name: String) -> String { "\(path)/\(name)" }

  /// The options that choose an encrypted file in the directory, with a key file.
  var storage: [String] { ["--storage", "file:\(path("file"))", "--key-file", path("key")] }
}
