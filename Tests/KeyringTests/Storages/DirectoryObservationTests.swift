// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
@testable import Keyring
import KeyringRuntime
import KeyringStorage
import TestPrograms
import Testing

/// Observations of a directory of secrets that other programs change.
@Suite(.tags(.threads), .timeLimit(.minutes(2))) struct DirectoryObservationTests {
  private let service = "org.example.app"

  private func storage(_ path: String) -> CredentialsDirectoryStorage {
    CredentialsDirectoryStorage(service: service, directory: path)
  }

  private func password(_ account: String) -> ItemKey {
    .password(service: service, account: account)
  }

  @Test func `a version is reported once, by what has changed in it`() throws {
    let secrets = try MountedSecrets()
    try secrets.write(["kept": "1", "changed": "1", "gone": "1"])
    let log = EventLog()
    let observation = try storage(secrets.path).observe(.service(service), log.append)
    try secrets.write(["kept": "1", "changed": "2", "new": "2"])
    log.wait(for: .changed(.created(password("new"))))
    // This one has the same content, and other files.
    try secrets.write(["kept": "1", "changed": "2", "new": "2"])
    try secrets.write(["kept": "1", "changed": "2"])
    log.wait(for: .changed(.removed(password("new"))))
    observation.cancel()
    #expect(
      log.changes == [
        .replaced(password("changed")), .removed(password("gone")), .created(password("new")),
        .removed(password("new")),
      ])
  }

  @Test func `the changes of a kind are those of its keys`() async throws {
    let secrets = try MountedSecrets()
    try secrets.write(["token": "old"])
    let storage = storage(secrets.path)
    let keys: [ItemKey] = [
      password("token"), .value(service: service, account: "token"),
      .credentials(service: service, label: "token"),
    ]
    for key in keys {
      let all = try await storage.changes(matching: .service(service, kind: key.kind))
      let one = try await storage.changes(matching: .key(key))
      try secrets.write(["token": UUID().uuidString])
      for changes in [all, one] {
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next() == .replaced(key))
      }
    }
  }

  /// An agent replaces the files of a plain directory one by one.
  @Test func `a plain directory reports files that are replaced one by one`() throws {
    let directory = TemporaryDirectory()
    try directory.write("old", "token")
    let log = try EventLog(of: storage(directory.path), .service(service))
    try directory.write("a file that isn't complete", ".token")
    try directory.rename(".token", to: "token")
    log.wait(for: .changed(.replaced(password("token"))))
    try directory.write("2", ".another")
    try directory.rename(".another", to: "another")
    log.wait(for: .changed(.created(password("another"))))
    try directory.remove("token")
    log.wait(for: .changed(.removed(password("token"))))
    #expect(log.changes.count == 3, "\(log.changes)")
  }

  @Test func `a cache never keeps an older version`() throws {
    let secrets = try MountedSecrets()
    try secrets.write(["token": "0"])
    let cached = storage(secrets.path).cached()
    #expect(try cached.password(for: password("token")) == "0")
    #expect(cached.cacheLifetime == nil)
    for number in 1...20 {
      try secrets.write(["token": "\(number)"])
      #expect(
        try waitUntil { try cached.password(for: password("token")) == "\(number)" },
        "the version \(number) isn't seen")
    }
  }

  @Test func `nothing is watched until someone observes`() async {
    await #expect(processExitsWith: .success) { () throws -> Void in
      let secrets = try MountedSecrets()
      try secrets.write(["token": "s3cret"])
      let storage = CredentialsDirectoryStorage(service: "service", directory: secrets.path)
      let empty = TemporaryDirectory()
      let unmounted = CredentialsDirectoryStorage(service: "service", directory: empty.path)
      expectError(.noStorage) { try unmounted.observe(nil) { _ in } }
      #expect(try waitUntil { try Watches.count() == 0 })
      let key = ItemKey.password(service: "service", account: "token")
      #expect(try storage.password(for: key) == "s3cret")
      #expect(storage.cacheLifetime == .seconds(60))
      #expect(try Watches.count() == 0)
      let observations = try [1, 2].map { _ in try storage.observe(nil) { _ in } }
      #expect(try Watches.count() == 1)
      for observation in observations { observation.cancel() }
      #expect(storage.cacheLifetime == .seconds(60))
    }
  }

  @Test func `a layer without a directory isn't observed`() throws {
    let memory = InMemoryStorage()
    let layers = LayeredStorage([.reading(storage("/nonexistent")), .writing(memory)])
    let log = try EventLog(of: layers)
    try memory.setPassword("new", for: password("token"))
    log.wait(for: .changed(.created(password("token"))))
    #expect(layers.cacheLifetime == .seconds(60))
  }

  /// The events of an observer wait for each other, so it reads before the cache is notified.
  @Test func `a read of several keys in an observer mixes no versions`() throws {
    let secrets = try MountedSecrets()
    try secrets.write(["first": "1", "second": "1"])
    let cached = storage(secrets.path).cached()
    let keys = ["first", "second"].map(password)
    let log = EventLog()
    let observation = try cached.observe(.service(service)) { event in
      if event == .changed(.created(password("signal"))) {
        #expect(throws: Never.self) {
          #expect(try cached.password(for: keys[0]) == "2")
          try secrets.write(["first": "3", "second": "3", "signal": ""])
          let found = try cached.items(for: keys, details: .secret).values
          #expect(Set(found.map { $0.secret?.text }).count == 1)
        }
      }
      log.append(event)
    }
    try secrets.write(["first": "2", "second": "2", "signal": ""])
    log.wait(for: .changed(.created(password("signal"))))
    observation.cancel()
  }

  @Test func `a version that only a read has seen is reported when it's taken back`() throws {
    let directories = ["told", "read"].map { _ in TemporaryDirectory() }
    for (directory, name) in zip(directories, ["removed", "created"]) {
      try directory.write("in \(name)", "kept")
      try directory.write("in each", "same")
      try directory.write("in one", name)
    }
    let observers = DirectoryObservers(ServiceKeyMapping(service: service, accessGroup: nil))
    let log = EventLog()
    let path = directories[0].path
    let failure = { (_: FileFailure) in storage(path).error(.other, during: .observe) }
    let observation = try observers.observe(
      path, failing: failure, log.append)
    // The other directory stands for a version that was there between two looks.
    let reads = try SecretsDirectory.read(
      directories[1].path, hashing: true, failing: failure
    ) { (directory) throws(SecureStorageError) in
      for name in ["kept", "same", "removed", "created"] {
        _ = try? directory.read(name, atMost: 4096)
      }
      return directory.reads
    }
    try observers.compare(path, reads, since: try #require(observers.files))
    #expect(waitUntil { log.count == 9 }, "three items for each of three files")
    #expect(
      Set(log.changes.filter { $0.key.kind == .password }) == [
        .replaced(password("kept")), .created(password("removed")), .removed(password("created")),
      ])
    #expect(log.count == log.changes.count)
    observation.cancel()
  }

  // MARK: - Paths that lead elsewhere

  @Test func `a link to another directory is followed within seconds`() throws {
    let directory = TemporaryDirectory()
    for name in ["1", "2"] {
      try directory.makeDirectory("\(name)")
      try directory.write(name, "\(name)/token")
      try directory.link("to \(name)", to: name)
    }
    try directory.rename("to 1", to: "current")
    let storage = storage(directory.path + "/current")
    let log = try EventLog(of: storage, .service(service))
    #expect(storage.cacheLifetime == .seconds(60))
    try directory.rename("to 2", to: "current")
    log.wait(for: .changed(.replaced(password("token"))))
  }

  /// The system says nothing about a directory further up.
  @Test func `a new observer follows a directory that took the place of the watched one`() throws {
    let directory = TemporaryDirectory()
    let path = directory.path + "/outer/given"
    func create() throws {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      try directory.write("old", "outer/given/token")
    }
    try create()
    let storage = storage(path)
    try storage.observe(nil) { _ in }.cancel()
    try directory.rename("outer", to: "elsewhere")
    try create()
    let log = try EventLog(of: storage, .service(service))
    try directory.write("new", "outer/given/.token")
    try directory.rename("outer/given/.token", to: "outer/given/token")
    log.wait(for: .changed(.replaced(password("token"))))
  }

  // MARK: - Directories that are gone

  @Test func `a directory that is missing or empty is an error, and is observed when it's there`()
    throws
  {
    let directory = TemporaryDirectory()
    let storage = storage(directory.path + "/late")
    expectError(.noStorage) { try storage.observe(nil) { _ in } }
    try directory.makeDirectory("late")
    expectError(.noStorage) { try storage.observe(nil) { _ in } }
    expectError(.noStorage) { try storage.password(for: password("token")) }
    try directory.write("old", "late/token")
    let log = try EventLog(of: storage)
    try directory.write("new", "late/token")
    log.wait(for: .changed(.replaced(password("token"))))
  }

  @Test func `a directory that goes and comes back is an interruption`() throws {
    let directory = TemporaryDirectory()
    let path = directory.path + "/given"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    try directory.write("old", "given/token")
    let storage = storage(path)
    let log = try EventLog(of: storage, .service(service))
    try directory.rename("given", to: "elsewhere")
    log.wait(for: .interrupted)
    expectError(.noStorage) { try storage.password(for: password("token")) }
    try directory.rename("elsewhere", to: "given")
    log.wait(for: .resumed)
    #expect(log.changes.isEmpty && log.count == 2)
  }

  /// The functions of a shell that replace the file "token" with one step, in a directory of either kind.
  private static let put = [
    "versions": """
    put() {
      mkdir "$1/..$2"; printf %s "$2" > "$1/..$2/token"
      ln -s "..$2" "$1/..data_tmp"; mv -T "$1/..data_tmp" "$1/..data"
      [ -h "$1/token" ] || ln -s ..data/token "$1/token"
    }
    """,
    "files": "put() { printf %s \"$2\" > \"$1/.token\"; mv \"$1/.token\" \"$1/token\"; }",
  ]

  /// Starts a process that observes a directory, beside a shell that runs the lines of the input.
  private func follow(
    _ directory: String, in kind: String, _ begin: String, _ command: [String] = [],
    as user: [String] = []
  ) throws -> Program {
    let script = """
      \(try #require(Self.put[kind]))
      \(begin)
      put "$1" old
      while read -r line; do eval "$line"; done | \(user.joined(separator: " ")) "$0" follow "$1" \(service)
      """
    let words = command + ["sh", "-c", script, Program.workerPath, directory]
    return try Program(words[0], Array(words.dropFirst()))
  }

  private var replaced: String { "\(StorageEvent.changed(.replaced(password("token"))))" }

  @Test(
    .enabled(if: Namespaces.areAllowed, "this machine doesn't allow mount namespaces"),
    arguments: ["versions", "files"])
  func `a directory that is unmounted and mounted again has lost no secret`(kind: String) throws {
    let directory = TemporaryDirectory()
    let program = try follow(
      directory.path, in: kind, "mount -t tmpfs none \"$1\"", Namespaces.command)
    #expect(try program.readLine() == "observing old")
    try program.writeLine("umount -l \"$1\"")
    #expect(try program.readLine() == "interrupted: noStorage")
    try program.writeLine("mount -t tmpfs none \"$1\"; put \"$1\" new")
    #expect(try program.readLine() == "\(replaced): new")
    #expect(try program.readLine() == "resumed: new")
    #expect(try program.finish().status == 0)
  }

  @Test(arguments: ["versions", "files"])
  func `a directory that may not be read is an interruption`(kind: String) throws {
    let directory = TemporaryDirectory()
    let program = try follow(
      directory.path, in: kind, "chmod 755 \"$1\"",
      // Another user might not reach a temporary directory of root.
      as: geteuid() == 0 ? ["setpriv", "--inh-caps=-all", "--bounding-set=-all"] : [])
    #expect(try program.readLine() == "observing old")
    try program.writeLine("chmod 0 \"$1\"")
    #expect(try program.readLine() == "interrupted: accessDenied")
    // The owner can't write, either, unless it's root.
    try program.writeLine("chmod 755 \"$1\"; put \"$1\" new")
    let lines = [try program.readLine(), try program.readLine()]
    #expect(Set(lines.map { $0.prefix(7) }) == ["resumed", "changed"])
    #expect(lines.contains("\(replaced): new"))
    #expect(try program.finish().status == 0)
  }

  @Test(.enabled(if: Namespaces.mirrorIsAllowed, "may not mount a file system through FUSE"))
  func `changes on a file system that doesn't report them are seen`() throws {
    let secrets = try MountedSecrets()
    try secrets.write(["token": "old"])
    let mountpoint = TemporaryDirectory()
    let mirror = try Program.script("fuse-mirror.py", [secrets.path, mountpoint.path])
    defer {
      withExtendedLifetime(mountpoint) { #expect(throws: Never.self) { _ = try mirror.finish() } }
    }
    try #require(try mirror.readLine() == "ready")
    let storage = storage(mountpoint.path)
    let log = try EventLog(of: storage, .service(service))
    #expect(storage.cacheLifetime == .seconds(60))
    for number in 1...2 {
      try secrets.write(["token": "\(number)"])
      log.wait(for: .changed(.replaced(password("token"))))
      #expect(try storage.password(for: password("token")) == "\(number)")
    }
    #expect(log.changes.count == 2)
  }
}
#endif
