// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Testing

/// A directory for one test, which only its owner may use, and which is removed with its content.
package final class TemporaryDirectory: Sendable {
  package let path = NSTemporaryDirectory() + "swift-keyring-\(UUID().uuidString)"

  package init() {
    #expect(throws: Never.self) {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
  }

  deinit { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: path) } }

  package func path(_ name: String) -> String { name.isEmpty ? path : "\(path)/\(name)" }

  package func names() throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: path))
  }

  package func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
  }

  package func text(_ name: String) throws -> String {
    String(decoding: try bytes(name), as: UTF8.self)
  }

  /// Returns the permissions of a file.
  package func mode(_ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path(name))[.posixPermissions] as? Int
  }

  package func write(_ text: String, _ name: String) throws { try write(text.utf8, name) }

  package func write(_ bytes: some Sequence<UInt8>, _ name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
  }

  /// Gives a file other permissions.
  package func setMode(_ mode: Int, of name: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
  }

  package func makeDirectory(_ name: String) throws {
    try FileManager.default.createDirectory(
      atPath: path(name), withIntermediateDirectories: false)
  }

  /// Creates a symbolic link.
  package func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: target)
  }

  /// Renames a file, and replaces another one.
  package func rename(_ name: String, to new: String) throws {
    try #require(Foundation.rename(path(name), path(new)) == 0)
  }

  package func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: path(name))
  }
}
