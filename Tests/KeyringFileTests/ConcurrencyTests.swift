#if EncryptedFile && os(Linux)
import Foundation
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringFile

/// Many threads and several processes on one file.
@Suite struct ConcurrencyTests {
  private let folder: TemporaryDirectory
  private var path: String { folder.path("secrets") }
  private var storage: EncryptedFileStorage {
    EncryptedFileStorage(at: path, key: .keyFile(at: path + ".key"))
  }

  init() throws { folder = try TemporaryDirectory() }

  @Test func eightThreadsLoseNothing() throws {
    try expectNothingLost([Program.worker("mix", path, "service", "worker", "8", "250")])
  }

  /// They also make the file, its key and its lock, all at once.
  @Test func fourProcessesLoseNothing() throws {
    try expectNothingLost(
      (0..<4).map { try Program.worker("mix", path, "service", "worker \($0)", "2", "250") })
  }

  /// Waits for the workers, and expects every write that they had acknowledged in the file.
  private func expectNothingLost(_ workers: [Program]) throws {
    var output = ""
    for worker in workers {
      let (status, text) = try worker.finish()
      #expect(status == 0)
      output += String(decoding: text, as: UTF8.self)
    }
    let items = try storage.items(matching: .service("service", details: .secret))
    let values = Dictionary(
      uniqueKeysWithValues: items.map {
        ($0.key.attributes["username"] ?? $0.key.attributes["label"] ?? "", $0.secret?.text)
      })
    let histories = try LinearizabilityLog.read(output)
    #expect(!histories.isEmpty)
    #expect(Set(values.keys).isSubset(of: histories.keys))
    for (key, history) in histories {
      let contradictions = history.violations(last: values[key] ?? nil)
      #expect(contradictions.isEmpty, "\(key) of \(histories.count) keys")
    }
  }

  @Test func otherStoragesWriteIsReadNext() throws {
    let (one, other) = (storage, storage)
    for number in 1...200 {
      try one.setPassword("\(number)", for: .first)
      #expect(try other.password(for: .first) == "\(number)")
      try other.setPassword("other \(number)", for: .second)
      #expect(try one.password(for: .second) == "other \(number)")
    }
  }

  @Test func waitingForAnotherWriterEnds() throws {
    let storage = EncryptedFileStorage(
      at: path, key: .keyFile(at: path + ".key"), timeout: .milliseconds(50))
    try storage.setPassword("kept", for: .first)
    let lock = try #require(try FileLock(taking: FileLocation(path)))
    #expect(try code { try storage.setPassword("late", for: .first) } == .timedOut)
    // Readers and changes of nothing wait for nobody.
    #expect(try storage.password(for: .first) == "kept")
    #expect(try !storage.remove(.second))
    withExtendedLifetime(lock) {}
  }

  /// Who removes the lock lets a second writer in; the first then begins again.
  @Test func writerWhoseLockWasRemovedLosesNothing() throws {
    let (storage, other) = (storage, storage)
    try storage.setPassword("kept", for: .first)
    var calls = 0
    try storage.file.change(.save) { (content) throws(SecureStorageError) in
      calls += 1
      // The first look is without the lock, and so is what the other does in the second.
      if calls == 2 {
        unlink(path + ".lock")
        try other.setPassword("other's", for: .second)
      }
      content.remove([.first])
    }
    #expect(calls == 3)
    #expect(try storage.password(for: .first) == nil)
    #expect(try storage.password(for: .second) == "other's")
  }

  /// A path is opened before it is replaced, and not afterwards.
  ///
  /// NFS finds out only then what is there. Once it is replaced, somebody who takes no lock may have put
  /// another file there, which would be taken for what was written.
  @Test func fileIsOpenedBeforeItIsReplacedAndNotAfterwards() throws {
    let storage = storage
    try storage.setPassword("old", for: .first)
    let events = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    defer { close(events) }
    try #require(inotify_add_watch(events, folder.url.path, UInt32(IN_OPEN | IN_MOVED_TO)) >= 0)
    #expect(try storage.password(for: .first) == "old")
    #expect(Self.events("secrets", from: events).isEmpty, "a read only looks whether it is another")
    try storage.setPassword("new", for: .first)
    #expect(Self.events("secrets", from: events) == [UInt32(IN_OPEN), UInt32(IN_MOVED_TO)])
  }

  /// What has happened to the file with a name.
  private static func events(_ name: String, from descriptor: Int32) -> [UInt32] {
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    let count = read(descriptor, &buffer, buffer.count)
    var rest = buffer.prefix(max(0, count))
    var masks: [UInt32] = []
    while !rest.isEmpty {
      let event = rest.withUnsafeBytes { $0.loadUnaligned(as: inotify_event.self) }
      let end = MemoryLayout<inotify_event>.size + Int(event.len)
      let found = rest.prefix(end).dropFirst(MemoryLayout<inotify_event>.size).prefix { $0 != 0 }
      if found.elementsEqual(name.utf8) { masks.append(event.mask) }
      rest = rest.dropFirst(end)
    }
    return masks
  }

  /// Both write under the same name until they have found out.
  @Test func unfinishedFileOfAnotherWriterStays() throws {
    let place = FileLocation(path)
    let lock = try #require(try FileLock(taking: place))
    let unfinished = folder.path(".secrets.new")
    try [UInt8](repeating: 1, count: 8).withUnsafeBytes { bytes in
      let first = try FileReplacement(of: path, through: unfinished, with: bytes)
      unlink(unfinished)
      try withExtendedLifetime(first) {
        #expect(try first.opened() == nil)
        try folder.write([2], ".secrets.new")
        #expect(try first.opened() == nil)
      }
    }
    #expect(try folder.bytes(".secrets.new") == [2])
    unlink(path + ".lock")
    #expect(try place.replace(with: [3], under: lock) == nil)
    #expect(try folder.names() == [])
  }

  @Test(.enabled(if: geteuid() == 0, "only root may write what others own"))
  func rootLocksNobodyOut() throws {
    let storage = EncryptedFileStorage(at: path, key: .cheap("right"))
    try storage.setPassword("the user's", for: .first)
    try FileManager.default.removeItem(atPath: path + ".lock")
    let nobody: uid_t = 65534
    chown(path, nobody, getgid())
    try storage.setPassword("root's", for: .first)
    for file in [path, path + ".lock"] {
      let owner = try FileManager.default.attributesOfItem(atPath: file)[.ownerAccountID] as? Int
      #expect(owner == Int(nobody), "\(file)")
    }
    try folder.withoutPrivileges {
      () throws in
      try storage.setPassword("the user's again", for: .second)
    }
  }

  @Test func waitingForAnotherWriterIsCanceled() async throws {
    let storage = storage
    try await storage.setPassword("kept", for: .first)
    let lock = try #require(try FileLock(taking: FileLocation(path)))
    let task = Task { try await storage.setPassword("late", for: .first) }
    task.cancel()
    let error = await #expect(throws: SecureStorageError.self) { try await task.value }
    #expect(error?.code == .canceled)
    #expect(try await storage.password(for: .first) == "kept")
    withExtendedLifetime(lock) {}
  }
}
#endif
