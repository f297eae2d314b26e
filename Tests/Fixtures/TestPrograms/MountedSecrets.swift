// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Foundation

/// A directory whose secrets another process replaces all at once, as a kubelet does for a mounted volume.
///
/// It's removed with the value.
package final class MountedSecrets: Sendable {
  /// The moment at which the links of new files are created.
  ///
  /// Older kubelets create them before the version of the directory is replaced, and newer ones afterwards.
  package enum Links: String, CaseIterable, Sendable { case first, last }

  package let path: String
  private let writer: Program

  /// Creates an empty directory.
  package init(links: Links = .last) throws {
    path = NSTemporaryDirectory() + "swift-keyring-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    writer = try Program.script("mount-secrets.py", [path, links.rawValue])
  }

  deinit {
    _ = try? writer.end()
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Replaces all secrets.
  package func write(_ secrets: [String: String]) throws {
    let line = try JSONEncoder().encode(secrets)
    try writer.writeLine(String(decoding: line, as: UTF8.self))
    _ = try writer.readLine()
  }

  /// Replaces the secrets once for each number, as fast as possible, and waits until the last version is there.
  ///
  /// Each version has the number in "first" and "second". If it's odd, it's also in "odd".
  package func write(versions: ClosedRange<Int>) async throws {
    try writer.writeLine("[\(versions.lowerBound), \(versions.upperBound)]")
    _ = try await writer.nextLine()
  }
}
#endif
