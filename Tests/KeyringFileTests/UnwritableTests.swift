#if EncryptedFile && os(Linux)
import Foundation
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringFile

/// What cannot be written is an error, and what was there stays there, whole.
@Suite struct UnwritableTests {
  private let folder: TemporaryDirectory
  private let path: String

  init() throws {
    folder = try TemporaryDirectory()
    path = folder.path("secrets")
  }

  private func storage(at path: String? = nil) -> EncryptedFileStorage {
    EncryptedFileStorage(at: path ?? self.path, key: .cheap("right"))
  }

  @Test func missingFoldersAreMadeForTheOwnerOnly() throws {
    let deep = storage(at: folder.path("one/two/secrets"))
    #expect(try deep.password(for: .first) == nil)
    #expect(try !deep.remove(.first))
    #expect(try folder.names().isEmpty, "looking made something")
    try deep.setPassword("s3cret", for: .first)
    #expect(try folder.mode("one") == 0o700)
    #expect(try folder.mode("one/two") == 0o700)
    #expect(try folder.mode("one/two/secrets") == 0o600)
    #expect(try folder.mode("one/two/secrets.lock") == 0o600)
  }

  /// A folder that is made is written into another one, which has to be on the disk as well; one that
  /// cannot be opened cannot be waited for.
  @Test func folderThatMayNotBeOnTheDiskIsAnError() throws {
    let deep = storage(at: folder.path("outer/inner/secrets"))
    try FileManager.default.createDirectory(
      atPath: folder.path("outer"), withIntermediateDirectories: false)
    try folder.withoutPrivileges { () throws in
      chmod(folder.path("outer"), 0o300)
      #expect(try code { try deep.setPassword("s3cret", for: .first) } == .accessDenied)
      chmod(folder.path("outer"), 0o700)
    }
    #expect(try folder.mode("outer/inner") == 0o700)
    #expect(try deep.password(for: .first) == nil)
  }

  /// The folder that has the new file may be written, and cannot be waited for.
  @Test func errorAfterTheFileWasReplacedSaysSo() throws {
    let storage = storage(at: folder.path("deep/secrets"))
    try storage.setPassword("old", for: .first)
    for name in ["deep/secrets", "deep/secrets.lock"] { chown(folder.path(name), 65534, getgid()) }
    try folder.withoutPrivileges { () throws in
      chmod(folder.path("deep"), 0o300)
      let error = #expect(throws: SecureStorageError.self) {
        try storage.setPassword("new", for: .first)
      }
      #expect(error?.message.contains("may not be on the disk yet") == true)
      #expect(error?.recoverySuggestion?.hasPrefix("The new content is in place") == true)
      #expect(try storage.password(for: .first) == "new")
      chmod(folder.path("deep"), 0o700)
    }
  }

  @Test func fileInPlaceOfTheFolderIsAnError() throws {
    try folder.write([], "file")
    let storage = storage(at: folder.path("file/secrets"))
    #expect(try code { _ = try storage.password(for: .first) } == .other)
    #expect(try code { try storage.setPassword("lost", for: .first) } == .other)
  }

  @Test(arguments: ["", "secrets/", ".", ".."]) func pathWithoutANameIsRefused(path: String) throws
  {
    let storage = storage(at: path)
    #expect(try code { _ = try storage.password(for: .first) } == .invalidArgument)
    #expect(try code { try storage.setPassword("lost", for: .first) } == .invalidArgument)
  }

  /// A process whose files may not grow gets from write(2) what it gets on a full disk: less than it
  /// wanted to write, and then an error.
  @Test func writerThatRunsOutOfRoomLosesNothing() throws {
    let storage = EncryptedFileStorage(at: path, key: .keyFile(at: path + ".key"))
    try storage.save(
      SecureItem(key: .first, secret: Secret(bytes: [UInt8](repeating: 1, count: 1 << 17))),
      mode: .add)
    let whole = try folder.bytes("secrets")
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
    #expect(try folder.bytes("secrets") == whole)
    #expect(try folder.names() == ["secrets", "secrets.key", "secrets.lock"])
  }

  @Test(.enabled(if: SmallFileSystem.canBeMounted, "may not mount a file system"))
  func fullFileSystemLosesNothing() throws {
    let mounted = try SmallFileSystem(at: folder.path("small"), kibibytes: 128)
    let storage = storage(at: folder.path("small/secrets"))
    try storage.setPassword("kept", for: .first)
    let whole = try folder.bytes("small/secrets")
    let large = Secret(bytes: [UInt8](repeating: 1, count: 1 << 20))
    let error = #expect(throws: SecureStorageError.self) {
      try storage.save(SecureItem(key: .second, secret: large), mode: .add)
    }
    #expect(error?.underlying?.code == Int(ENOSPC))
    #expect(try folder.bytes("small/secrets") == whole)
    #expect(try storage.password(for: .first) == "kept")
    try mounted.makeReadOnly()
    #expect(try code { try storage.setPassword("lost", for: .first) } == .accessDenied)
    #expect(try storage.password(for: .first) == "kept")
    #expect(try self.storage(at: folder.path("small/secrets")).password(for: .first) == "kept")
  }

  @Test func readOnlyFolderIsAnError() throws {
    try storage().setPassword("kept", for: .first)
    let whole = try folder.bytes("secrets")
    try folder.withoutPrivileges { () throws in
      chmod(folder.url.path, 0o500)
      #expect(try storage().password(for: .first) == "kept")
      #expect(try code { try storage().setPassword("lost", for: .first) } == .accessDenied)
      #expect(try code { try storage().remove(.first) } == .accessDenied)
      chmod(folder.url.path, 0o700)
    }
    #expect(try folder.bytes("secrets") == whole)
  }

  @Test func linkIsRefused() throws {
    try storage().setPassword("kept", for: .first)
    let whole = try folder.bytes("secrets")
    try FileManager.default.moveItem(atPath: path, toPath: folder.path("elsewhere"))
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: folder.path("elsewhere"))
    #expect(try code { _ = try storage().password(for: .first) } == .other)
    #expect(try code { try storage().setPassword("lost", for: .first) } == .other)
    #expect(try folder.bytes("elsewhere") == whole)
    // Nor does a link in the place of what is written make anybody write elsewhere.
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: folder.path("elsewhere"), toPath: path)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path(".secrets.new"), withDestinationPath: folder.path("victim"))
    try storage().setPassword("new", for: .first)
    #expect(try folder.names() == ["secrets", "secrets.lock"])
    try FileManager.default.removeItem(atPath: path + ".lock")
    try FileManager.default.createSymbolicLink(
      atPath: path + ".lock", withDestinationPath: folder.path("victim"))
    #expect(try code { try storage().setPassword("lost", for: .first) } == .other)
    #expect(try storage().password(for: .first) == "new")
  }

  /// Who owns the folder may have given the lock another name, of a file that is somebody else's.
  @Test(.enabled(if: geteuid() == 0, "only root may give files away"))
  func lockThatIsAnotherFileIsNotGivenAway() throws {
    try storage().setPassword("kept", for: .first)
    chown(path, 65534, 54321)
    try folder.write([], "victim")
    try FileManager.default.removeItem(atPath: path + ".lock")
    try FileManager.default.linkItem(atPath: folder.path("victim"), toPath: path + ".lock")
    let error = #expect(throws: SecureStorageError.self) {
      try storage().setPassword("lost", for: .first)
    }
    #expect(error?.underlying?.code == Int(EMLINK))
    let victim = try FileManager.default.attributesOfItem(atPath: folder.path("victim"))
    #expect(victim[.ownerAccountID] as? Int == 0)
    #expect(try storage().password(for: .first) == "kept")
  }

  @Test func folderAndPipeAreRefused() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    #expect(try code { _ = try storage().password(for: .first) } == .other)
    try FileManager.default.removeItem(atPath: path)
    #expect(mkfifo(path, 0o600) == 0)
    #expect(try code { _ = try storage().password(for: .first) } == .other)
  }

  @Test func unfinishedFileOfAKilledWriterIsRemoved() throws {
    try folder.write([1, 2, 3], ".secrets.new")
    try storage().setPassword("s3cret", for: .first)
    #expect(try folder.names() == ["secrets", "secrets.lock"])
  }

  @Test func removedFileIsMadeAnew() throws {
    let storage = storage()
    try storage.setPassword("old", for: .first)
    try FileManager.default.removeItem(atPath: path)
    #expect(try storage.password(for: .first) == nil)
    try storage.setPassword("new", for: .second)
    #expect(try storage.password(for: .first) == nil)
    #expect(try self.storage().password(for: .second) == "new")
  }

  /// A user who was taken out of a group may not give it a file.
  @Test(.enabled(if: geteuid() == 0, "only root may give a file to any group"))
  func groupThatMayDoNothingIsNotKept() throws {
    let (nobody, strangers): (uid_t, gid_t) = (65534, 54321)
    let storage = storage(at: folder.path("deep/secrets"))
    try storage.setPassword("old", for: .first)
    for name in ["deep/secrets", "deep/secrets.lock"] {
      chown(folder.path(name), nobody, strangers)
    }
    try folder.withoutPrivileges { () throws in
      try storage.setPassword("new", for: .first)
      #expect(try folder.mode("deep/secrets") == 0o600)
    }
    // What the group may read it is not to lose.
    chown(folder.path("deep/secrets"), nobody, strangers)
    chmod(folder.path("deep/secrets"), 0o640)
    try folder.withoutPrivileges { () throws in
      #expect(try code { try storage.setPassword("lost", for: .first) } == .accessDenied)
    }
    try storage.setPassword("root's", for: .first)
    let path = folder.path("deep/secrets")
    let group = try FileManager.default.attributesOfItem(atPath: path)[.groupOwnerAccountID]
    #expect(group as? Int == Int(strangers))
  }

  @Test func replacementOfWhatCannotBeLookedAtIsAnError() throws {
    let tooLong = folder.path(String(repeating: "n", count: 300))
    let error = #expect(throws: FileFailure.self) {
      _ = try FileReplacement(
        of: tooLong, through: folder.path("new"),
        with: UnsafeRawBufferPointer(start: nil, count: 0))
    }
    #expect(error?.number == ENAMETOOLONG)
    #expect(try folder.names().isEmpty)
  }

  @Test func permissionsOfTheFileStay() throws {
    try storage().setPassword("old", for: .first)
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    try storage().setPassword("new", for: .first)
    #expect(try folder.mode("secrets") == 0o640)
  }
}
#endif
