// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringFile

/// A file on a file system that doesn't report its changes.
@Suite(.timeLimit(.minutes(1))) struct BlindFileSystemTests {
  @Test(.enabled(if: Namespaces.mirrorIsAllowed, "may not mount a file system through FUSE"))
  func `a change that the system doesn't report is seen`() throws {
    let directory = TemporaryDirectory()
    let mountpoint = directory.path("mirror")
    for path in [mountpoint, directory.path("files")] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    let key = KeySource.keyFile(at: directory.path("key"))
    let writer = directory.storage("files/secrets", key: key)
    try writer.setPassword("old", for: .first)
    let mirror = try Program.script("fuse-mirror.py", [directory.path("files"), mountpoint])
    // The directory can be removed once nothing is mounted in it.
    defer {
      withExtendedLifetime(directory) { #expect(throws: Never.self) { _ = try mirror.finish() } }
    }
    try #require(try mirror.readLine() == "ready")

    let reader = EncryptedFileStorage(at: mountpoint + "/secrets", key: key)
    #expect(reader.cacheLifetime == .seconds(60))
    let log = try EventLog(of: reader)
    let cached = reader.cached(for: nil)
    #expect(try cached.password(for: .first) == "old")
    try writer.setPassword("new", for: .first)
    log.wait(for: .changed(.replaced(.first)))
    #expect(try waitUntil { try cached.password(for: .first) == "new" })
  }
}
#endif
