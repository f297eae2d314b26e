// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Foundation
internal import Synchronization

/// A directory whose secrets another process replaces all at once, as a kubelet does for a mounted volume.
///
/// It's removed with the value.
package final class MountedSecrets: Sendable {
  /// The moment at which the links of new files are created.
  ///
  /// Older kubelets create them before the version of the directory is replaced, and newer ones afterwards.
  package enum Links: String, CaseIterable, Sendable { case first, last }

  package let path: String
  private let links: Links
  private let writer: Mutex<Program>

  /// Creates an empty directory in another one.
  package init(links: Links = .last, in directory: String = NSTemporaryDirectory()) throws {
    path = directory + "/swift-keyring-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    self.links = links
    writer = Mutex(try Program.script("mount-secrets.py", [path, links.rawValue]))
  }

  deinit {
    _ = try? writer.withLock { try $0.end() }
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Replaces all secrets.
  package func write(_ secrets: [String: String]) throws {
    let line = try JSONEncoder().encode(secrets)
    let writer = writer.withLock { $0 }
    try writer.writeLine(String(decoding: line, as: UTF8.self))
    _ = try writer.readLine()
  }

  /// Replaces the secrets once for each number, with pauses, and waits until the last version is there.
  ///
  /// Each version has the number in "first" and "second". If it's odd, it's also in "odd".
  package func write(versions: ClosedRange<Int>, milliseconds: Int = 0) async throws {
    let writer = writer.withLock { $0 }
    try writer.writeLine("[\(versions.lowerBound), \(versions.upperBound), \(milliseconds)]")
    _ = try await writer.nextLine()
  }

  /// Kills the process at any moment while it replaces the secrets, and starts another one.
  package func killWriter(of versions: ClosedRange<Int>) throws {
    try writer.withLock { writer in
      try writer.writeLine("[\(versions.lowerBound), \(versions.upperBound), 0]")
      usleep(.random(in: 0..<20_000))
      try writer.end()
      writer = try Program.script("mount-secrets.py", [path, links.rawValue])
    }
  }
}
#endif
