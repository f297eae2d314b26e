// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import Foundation
import KeyringRuntime
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringFile

/// Writes that fail with an error, and leave the file whole.
@Suite struct UnwritableTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path("secrets") }

  private func storage(at path: String? = nil) -> EncryptedFileStorage {
    EncryptedFileStorage(at: path ?? self.path, key: .cheap("right"))
  }

  @Test func `missing directories are made for their owner only`() throws {
    let deep = storage(at: directory.path("one/secrets"))
    #expect(try deep.password(for: .first) == nil)
    #expect(try !deep.remove(.first))
    #expect(try directory.names().isEmpty, "the read or the removal made something")
    try deep.setPassword("s3cret", for: .first)
    #expect(try directory.mode("one") == 0o700)
    #expect(try directory.mode("one/secrets") == 0o600)
    #expect(try directory.mode("one/secrets.lock") == 0o600)
  }

  @Test func `a directory isn't a file`() throws {
    let error = #expect(throws: SecureStorageError.self) {
      try storage(at: directory.path("")).password(for: .first)
    }
    #expect(error?.recoverySuggestion == "Use the path of an encrypted file.")
    let keyed = EncryptedFileStorage(at: path, key: .keyFile(at: directory.path("")))
    let keyError = #expect(throws: SecureStorageError.self) {
      try keyed.setPassword("s3cret", for: .first)
    }
    #expect(keyError?.recoverySuggestion == "Use the path of a key file.")
  }

  /// The file system with these directories may not be mounted.
  @Test func `only the directory of the file is made, or what is missing in the home`() throws {
    let deep = storage(at: directory.path("one/two/secrets"))
    #expect(deep.diagnose().failure?.code == .noStorage)
    let error = #expect(throws: SecureStorageError.self) {
      try deep.setPassword("lost", for: .first)
    }
    #expect(error?.message.contains("is in a directory that doesn't exist") == true)
    let key = KeySource.keyFile(at: directory.path("keys/inner/key"))
    #expect(throws: SecureStorageError.self) {
      try EncryptedFileStorage(at: path, key: key).setPassword("lost", for: .first)
    }
    #expect(try !directory.names().contains { ["one", "keys"].contains($0) })
    let home = try #require(ProcessInfo.processInfo.environment["HOME"])
    let inHome = Directory(of: home + "/.missing/swift-keyring/secrets")
    #expect(inHome.obstacle == nil)
  }

  /// A new directory is an entry in another one, which has to be on the disk as well.
  ///
  /// A write can't wait for a directory that can't be opened.
  @Test func `a new directory that may not be on the disk is an error`() throws {
    let deep = storage(at: directory.path("outer/inner/secrets"))
    try directory.makeDirectory("outer")
    try directory.withoutPrivileges { () throws in
      chmod(directory.path("outer"), 0o300)
      #expect(try code { try deep.setPassword("s3cret", for: .first) } == .accessDenied)
      chmod(directory.path("outer"), 0o700)
    }
    #expect(try directory.mode("outer/inner") == 0o700)
    #expect(try deep.password(for: .first) == nil)
  }

  /// The directory of the new file can be written, but not waited for.
  @Test func `an error after the replacement says that the new file is in place`() throws {
    let storage = storage(at: directory.path("deep/secrets"))
    try storage.setPassword("old", for: .first)
    for name in ["deep/secrets", "deep/secrets.lock"] {
      chown(directory.path(name), 65534, getgid())
    }
    try directory.withoutPrivileges { () throws in
      chmod(directory.path("deep"), 0o300)
      let error = #expect(throws: SecureStorageError.self) {
        try storage.setPassword("new", for: .first)
      }
      #expect(error?.message.contains("may not be on the disk yet") == true)
      #expect(error?.recoverySuggestion?.hasPrefix("The new content is in place") == true)
      #expect(try storage.password(for: .first) == "new")
      chmod(directory.path("deep"), 0o700)
    }
  }

  @Test func `a file in the place of the directory is an error`() throws {
    try directory.write([], "file")
    let storage = storage(at: directory.path("file/secrets"))
    #expect(try code { _ = try storage.password(for: .first) } == .other)
    #expect(try code { try storage.setPassword("lost", for: .first) } == .other)
  }

  @Test(arguments: ["", "secrets/", ".", ".."])
  func `a path without a file name is refused`(path: String) throws {
    let storage = storage(at: path)
    #expect(try code { _ = try storage.password(for: .first) } == .invalidArgument)
    #expect(try code { try storage.setPassword("lost", for: .first) } == .invalidArgument)
  }

  /// The files of the process can't grow, which has the same effect as a full disk.
  ///
  /// In both cases, write(2) writes less than the process wanted, and then fails.
  @Test func `a writer that runs out of room loses nothing`() throws {
    let storage = EncryptedFileStorage(at: path, key: .keyFile(at: path + ".key"))
    try storage.save(
      SecureItem(key: .first, secret: Secret(bytes: [UInt8](repeating: 1, count: 1 << 17))),
      mode: .add)
    let whole = try directory.bytes("secrets")
    let complaints = Pipe()
    let writer = try Program(
      "sh",
      [
        "-c", "trap '' XFSZ; ulimit -f 64; exec \"$@\"", "sh", Program.workerPath, "rewrite", path,
        "service",
      ], complaints: complaints.fileHandleForWriting)
    #expect(try writer.finish().status != 0)
    try complaints.fileHandleForWriting.close()
    let said = String(
      decoding: try complaints.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    #expect(said.contains("errno 27") || said.contains("code: \(EFBIG)"), "\(said)")
    #expect(try directory.bytes("secrets") == whole)
    #expect(try directory.names() == ["secrets", "secrets.key", "secrets.lock"])
  }

  @Test(.enabled(if: SmallFileSystem.canBeMounted, "may not mount a file system"))
  func `a full or read-only file system loses nothing`() throws {
    let mounted = try SmallFileSystem(at: directory.path("small"), kibibytes: 128)
    let storage = storage(at: directory.path("small/secrets"))
    try storage.setPassword("kept", for: .first)
    let whole = try directory.bytes("small/secrets")
    let large = Secret(bytes: [UInt8](repeating: 1, count: 1 << 20))
    let error = #expect(throws: SecureStorageError.self) {
      try storage.save(SecureItem(key: .second, secret: large), mode: .add)
    }
    #expect(error?.underlying?.code == Int(ENOSPC))
    #expect(try directory.bytes("small/secrets") == whole)
    #expect(try storage.password(for: .first) == "kept")
    try mounted.makeReadOnly()
    #expect(try code { try storage.setPassword("lost", for: .first) } == .accessDenied)
    #expect(try storage.password(for: .first) == "kept")
    #expect(try self.storage(at: directory.path("small/secrets")).password(for: .first) == "kept")
  }

  @Test func `a symbolic link is refused`() throws {
    try storage().setPassword("kept", for: .first)
    let whole = try directory.bytes("secrets")
    try FileManager.default.moveItem(atPath: path, toPath: directory.path("elsewhere"))
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: directory.path("elsewhere"))
    #expect(try code { _ = try storage().password(for: .first) } == .other)
    #expect(try code { try storage().setPassword("lost", for: .first) } == .other)
    #expect(try directory.bytes("elsewhere") == whole)
    // A link in the place of the unfinished file doesn't lead the write elsewhere either.
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: directory.path("elsewhere"), toPath: path)
    try directory.link(".secrets.new", to: directory.path("victim"))
    try storage().setPassword("new", for: .first)
    #expect(try directory.names() == ["secrets", "secrets.lock"])
    try FileManager.default.removeItem(atPath: path + ".lock")
    try FileManager.default.createSymbolicLink(
      atPath: path + ".lock", withDestinationPath: directory.path("victim"))
    #expect(try code { try storage().setPassword("lost", for: .first) } == .other)
    #expect(try storage().password(for: .first) == "new")
  }

  /// The owner of the directory may have put another user's file in the place of the lock.
  @Test(
    .enabled(if: geteuid() == 0, "only root may give files away"), arguments: [true, false])
  func `a lock that is another file is not given away`(isLinked: Bool) throws {
    try storage().setPassword("kept", for: .first)
    chown(path, 65534, 54321)
    try directory.write([1], "victim")
    try FileManager.default.removeItem(atPath: path + ".lock")
    let (victim, lock) = (directory.path("victim"), path + ".lock")
    if isLinked {
      try FileManager.default.linkItem(atPath: victim, toPath: lock)
    } else {
      try FileManager.default.moveItem(atPath: victim, toPath: lock)
    }
    try storage().setPassword("new", for: .first)
    let owner = try FileManager.default.attributesOfItem(atPath: lock)[.ownerAccountID]
    #expect(owner as? Int == 0)
    #expect(try directory.bytes("secrets.lock") == [1])
    #expect(mkfifo(directory.path("pipe"), 0o600) == 0)
    #expect(rename(directory.path("pipe"), lock) == 0)
    #expect(try code { try storage().setPassword("lost", for: .first) } == .other)
  }

  @Test func `a pipe in the place of the file is refused`() throws {
    #expect(mkfifo(path, 0o600) == 0)
    #expect(try code { _ = try storage().password(for: .first) } == .other)
  }

  @Test func `the unfinished file of a killed writer is removed`() throws {
    try directory.write([1, 2, 3], ".secrets.new")
    try storage().setPassword("s3cret", for: .first)
    #expect(try directory.names() == ["secrets", "secrets.lock"])
  }

  /// Someone may clear the data of an app while it runs.
  @Test(arguments: [["secrets"], ["secrets", "key"]])
  func `a removed file is made again, without its old items`(removed: [String]) throws {
    func storage() -> EncryptedFileStorage { directory.storage() }
    let running = storage()
    try running.setPassword("old", for: .first)
    for name in removed { try directory.remove(name) }
    #expect(try running.password(for: .first) == nil)
    try running.setPassword("new", for: .second)
    #expect(try running.password(for: .first) == nil)
    #expect(try storage().password(for: .second) == "new")
  }

  @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
  func `a directory that can't be reached is an error`() async {
    await #expect(processExitsWith: .success) {
      let (hidden, directory) = (TemporaryDirectory(), TemporaryDirectory())
      try directory.withoutPrivileges {}
      chmod(hidden.path, 0o700)
      // Access is checked for this user, who can become root again.
      #expect(chdir(hidden.path) == 0 && setreuid(65534, 0) == 0 && seteuid(65534) == 0)
      defer { #expect(seteuid(0) == 0 && setreuid(0, 0) == 0) }
      for (path, key) in [(directory.path("secrets"), "key"), ("secrets", directory.path("key"))] {
        let storage = EncryptedFileStorage(at: path, key: .keyFile(at: key))
        #expect(try code { try storage.setPassword("lost", for: .first) } == .accessDenied)
      }
    }
  }

  /// A user who is no longer in a group can't give it a file.
  @Test(.enabled(if: geteuid() == 0, "only root may give a file to any group"))
  func `a group without permissions is not kept`() throws {
    let (nobody, strangers): (uid_t, gid_t) = (65534, 54321)
    let storage = storage(at: directory.path("deep/secrets"))
    try storage.setPassword("old", for: .first)
    for name in ["deep/secrets", "deep/secrets.lock"] {
      chown(directory.path(name), nobody, strangers)
    }
    try directory.withoutPrivileges { () throws in
      try storage.setPassword("new", for: .first)
      #expect(try directory.mode("deep/secrets") == 0o600)
    }
    // A group that may read the file must not lose it.
    chown(directory.path("deep/secrets"), nobody, strangers)
    chmod(directory.path("deep/secrets"), 0o640)
    try directory.withoutPrivileges { () throws in
      #expect(try code { try storage.setPassword("lost", for: .first) } == .accessDenied)
    }
    try storage.setPassword("root's", for: .first)
    let path = directory.path("deep/secrets")
    let group = try FileManager.default.attributesOfItem(atPath: path)[.groupOwnerAccountID]
    #expect(group as? Int == Int(strangers))
  }

  @Test func `the replacement of a file that cannot be examined is an error`() throws {
    let tooLong = directory.path(String(repeating: "n", count: 300))
    let error = #expect(throws: FileFailure.self) {
      _ = try FileReplacement(
        of: tooLong, through: directory.path("new"),
        with: UnsafeRawBufferPointer(start: nil, count: 0))
    }
    #expect(error?.number == ENAMETOOLONG)
    #expect(try directory.names().isEmpty)
  }

  @Test func `the permissions of the file stay as they are`() throws {
    try storage().setPassword("old", for: .first)
    try directory.setMode(0o640, of: "secrets")
    try storage().setPassword("new", for: .first)
    #expect(try directory.mode("secrets") == 0o640)
  }
}
#endif
