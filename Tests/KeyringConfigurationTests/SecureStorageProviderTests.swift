// SPDX-License-Identifier: Apache-2.0

#if Configuration
import Configuration
import ConfigurationTesting
import Foundation
import Keyring
import KeyringConfiguration
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

/// Configuration values that are items of a storage.
@Suite struct SecureStorageProviderTests {
  private static let service = "org.example.app"

  private let storage = InMemoryStorage()
  private var provider: SecureStorageProvider {
    SecureStorageProvider(storage, service: Self.service)
  }

  private func set(_ value: String?, _ name: String) throws {
    let key = ItemKey.password(service: Self.service, account: name)
    if let value { try storage.setPassword(value, for: key) } else { try storage.remove(key) }
  }

  private func key(_ name: String) -> AbsoluteConfigKey {
    AbsoluteConfigKey(name.split(separator: ".").map(String.init))
  }

  // MARK: - Requirements of the protocol's package

  @Test func `the provider passes the compatibility test of Configuration`() async throws {
    for (name, value) in [
      ("string", "Hello"), ("other.string", "Other Hello"), ("int", "42"), ("other.int", "24"),
      ("double", "3.14"), ("other.double", "2.72"), ("bool", "true"), ("other.bool", "false"),
      ("bytes", "magic"), ("other.bytes", "magic2"),
      ("stringy.array", #"["Hello", "World"]"#), ("other.stringy.array", #"["Hello", "Swift"]"#),
      ("inty.array", "[42, 24]"), ("other.inty.array", "[16, 32]"),
      ("doubly.array", "[3.14, 2.72]"), ("other.doubly.array", "[0.9, 1.8]"),
      ("booly.array", "[true, false]"), ("other.booly.array", "[false, true, true]"),
      ("byteChunky.array", #"["bWFnaWM=", "bWFnaWMy"]"#),
      ("other.byteChunky.array", #"["bWFnaWM=", "bWFnaWMy", "bWFnaWM="]"#),
    ] {
      try set(value, name)
    }
    try await ProviderCompatTest(provider: provider).runTest()
    // This storage doesn't report changes.
    let still = SecureStorageProvider(SilentStorage(base: storage), service: Self.service)
    try await ProviderCompatTest(provider: still).runTest()
  }

  // MARK: - Values

  /// The provider of environment variables accepts these.
  @Test(arguments: [("1", true), ("yes", true), ("TRUE", true), ("0", false), ("No", false)])
  func `a truth value has several forms`(text: String, value: Bool) throws {
    try set(text, "name")
    #expect(try provider.value(forKey: key("name"), type: .bool).value?.content == .bool(value))
  }

  @Test func `every value is secret`() async throws {
    try set("s3cret", "database.password")
    let key = key("database.password")
    let found = [
      try provider.value(forKey: key, type: .string),
      try await provider.fetchValue(forKey: key, type: .string),
      try provider.snapshot().value(forKey: key, type: .string),
    ]
    for result in found {
      #expect(result.value == ConfigValue(.string("s3cret"), isSecret: true))
      #expect(result.encodedKey == "database.password")
      #expect(!"\(result)".contains("s3cret"))
    }
    let config = ConfigReader(provider: provider)
    #expect(config.string(forKey: "database.password") == "s3cret")
    #expect(try config.requiredString(forKey: "database.password", isSecret: true) == "s3cret")
  }

  /// Other programs may have stored several items that match a key.
  @Test func `an ambiguous value is an error in a snapshot too`() throws {
    let provider = SecureStorageProvider(TwinStorage(), service: Self.service)
    for read: () throws -> LookupResult in [
      { try provider.value(forKey: key("name"), type: .string) },
      { try provider.snapshot().value(forKey: key("name"), type: .string) },
    ] {
      expectError(.ambiguous) { try read() }
    }
  }

  @Test func `the provider reads only its own service and access group`() throws {
    try storage.setPassword("theirs", for: .password(service: "another", account: "name"))
    try storage.setPassword(
      "grouped", for: .password(service: Self.service, account: "name", accessGroup: "group"))
    #expect(try provider.value(forKey: key("name"), type: .string).value == nil)
    #expect(try provider.snapshot().value(forKey: key("name"), type: .string).value == nil)
    let grouped = SecureStorageProvider(storage, service: Self.service, accessGroup: "group")
    for result in [
      try grouped.value(forKey: key("name"), type: .string),
      try grouped.snapshot().value(forKey: key("name"), type: .string),
    ] {
      #expect(result.value?.content == .string("grouped"))
    }
  }

  @Test(arguments: [
    ("s3cret", ConfigType.int), ("s3cret", .double), ("s3cret", .bool), ("s3cret", .stringArray),
    (#"["s3cret"]"#, .intArray), ("1, 2", .intArray), ("s3cret", .byteChunkArray),
    ("[1, \"s3cret\"]", .doubleArray), ("{}", .boolArray),
  ])
  func `a value of another type is an error that does not show the value`(
    text: String, type: ConfigType
  ) async throws {
    try set(text, "name")
    for read: () throws -> LookupResult in [
      { try provider.value(forKey: key("name"), type: type) },
      { try provider.snapshot().value(forKey: key("name"), type: type) },
    ] {
      let error = expectError(.undecodable) { try read() }
      #expect("\(error as Any)".contains("\"name\""))
      #expect("\(error as Any)".contains("s3cret") == false)
    }
  }

  @Test func `bytes that are not text are not a string`() throws {
    let item = ItemKey.password(service: Self.service, account: "name")
    try storage[item, as: .secret].write(Secret(bytes: [0xFF, 0]))
    #expect(
      try provider.value(forKey: key("name"), type: .bytes).value?.content == .bytes([0xFF, 0]))
    #expect(throws: SecureStorageError.self) {
      try provider.value(forKey: key("name"), type: .string)
    }
  }

  @Test func `a value that cannot be read is not an absent one`() async throws {
    try set("s3cret", "name")
    try await storage.lock()
    for read: () async throws -> LookupResult in [
      { try provider.value(forKey: key("name"), type: .string) },
      { try await provider.fetchValue(forKey: key("name"), type: .string) },
      { try provider.snapshot().value(forKey: key("name"), type: .string) },
    ] {
      await expectError(.locked) { try await read() }
    }
  }

  @Test func `a snapshot stays as it is`() throws {
    try set("old", "name")
    let snapshot = provider.snapshot()
    try set("new", "name")
    try set("new", "another")
    #expect(try snapshot.value(forKey: key("name"), type: .string).value?.content == .string("old"))
    #expect(try snapshot.value(forKey: key("another"), type: .string).value == nil)
    #expect(snapshot.providerName == provider.providerName)
  }

  @Test func `a snapshot of items that cannot be listed keeps what it has read`() async {
    await #expect(processExitsWith: .success) { () throws -> Void in
      setenv("EXAMPLE_DATABASE_PASSWORD", "old", 1)
      let variables = EnvironmentStorage(service: "service", prefix: "EXAMPLE_")
      let snapshot = SecureStorageProvider(variables, service: "service").snapshot()
      let key = AbsoluteConfigKey(["database", "password"])
      for _ in 0..<2 {
        let result = try snapshot.value(forKey: key, type: .string)
        #expect(result.value?.content == .string("old"))
        setenv("EXAMPLE_DATABASE_PASSWORD", "new", 1)
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a snapshot can be read while it reads another value`() throws {
    let snapshot = Mutex<(any ConfigSnapshot)?>(nil)
    let storage = AskingStorage { key throws(SecureStorageError) in
      if key.account == "other" { return nil }
      let other = snapshot.withLock { $0 }
      let result = try? other?.value(forKey: AbsoluteConfigKey(["other"]), type: .string)
      return result?.value == nil ? Secret("s3cret") : nil
    }
    snapshot.withLock { $0 = SecureStorageProvider(storage, service: Self.service).snapshot() }
    let result = try snapshot.withLock { $0 }?.value(forKey: key("name"), type: .string)
    #expect(result?.value?.content == .string("s3cret"))
  }

  @Test func `descriptions and dumps show no value`() throws {
    try set("s3cret", "name")
    let provider = SecureStorageProvider(storage, service: Self.service, name: "vault")
    var text = "\(provider) \(String(reflecting: provider)) \(provider.snapshot())"
    dump(provider, to: &text)
    dump(provider.snapshot(), to: &text)
    #expect(!text.contains("s3cret"))
    #expect(provider.description == "SecureStorageProvider[vault](org.example.app)")
  }

  // MARK: - Reloading

  @Test func `a value is read again when it changes`() async throws {
    let provider = provider
    let contents: [ConfigContent?] = try await provider.watchValue(
      forKey: key("name"), type: .string
    ) { updates in
      var seen: [ConfigContent?] = []
      for await update in updates {
        seen.append(try update.get().value?.content)
        switch seen.count {
        case 1: try set("first", "name")
        case 2:
          try set("not looked at", "another")
          try set("second", "name")
        case 3: try set(nil, "name")
        default: return seen
        }
      }
      return seen
    }
    #expect(contents == [nil, .string("first"), .string("second"), nil])
  }

  @Test func `a value that cannot be read is an update too`() async throws {
    let faulty = FaultyStorage(storage)
    let provider = SecureStorageProvider(faulty, service: Self.service)
    try await provider.watchValue(forKey: key("name"), type: .string) { updates in
      var count = 0
      for await update in updates {
        count += 1
        switch count {
        case 1:
          #expect(try update.get().value == nil)
          faulty.fail(.read, with: .connectionLost)
          try set("s3cret", "name")
        default:
          #expect(throws: SecureStorageError.self) { try update.get() }
          return
        }
      }
    }
  }

  #if os(Linux)
  /// Kubernetes replaces all files of a directory at once.
  @Test(.timeLimit(.minutes(1)))
  func `a snapshot of a mounted directory shows one version`() async throws {
    let secrets = try MountedSecrets()
    try secrets.write(["login": "0", "password": "0"])
    let storage = CredentialsDirectoryStorage(service: Self.service, directory: secrets.path)
    let provider = SecureStorageProvider(storage, service: Self.service)
    let keys = [key("login"), key("password")]
    try await provider.watchSnapshot { updates in
      var last = -1
      for await snapshot in updates {
        let numbers = try keys.map { key in
          try snapshot.value(forKey: key, type: .int).value?.content
        }
        if numbers == [.int(last), .int(last)] { continue }
        last += 1
        #expect(numbers == [.int(last), .int(last)])
        if last == 5 { return }
        try secrets.write(["login": "\(last + 1)", "password": "\(last + 1)"])
      }
    }
  }
  #endif

  @Test func `a new snapshot shows all changes until then`() async throws {
    let storage = storage
    let (key, last) = (key("last"), ItemKey.password(service: Self.service, account: "last"))
    try await provider.watchSnapshot { updates in
      var count = 0
      for await snapshot in updates {
        count += 1
        switch count {
        case 1: for number in 0..<10 { try set("new", "name\(number)") }
        case 2:
          Task {
            // No update comes in the meantime.
            try await Task.sleep(for: .milliseconds(100))
            try await storage.setPassword("last", for: last)
          }
        default:
          let value = try snapshot.value(forKey: key, type: .string).value?.content
          #expect(value == .string("last"))
          return
        }
      }
    }
  }

  @Test(arguments: [true, false])
  func `watching ends with the task`(isObservable: Bool) async throws {
    let storage: any SecureStorage = isObservable ? storage : SilentStorage(base: storage)
    let provider = SecureStorageProvider(storage, service: Self.service)
    let key = key("name")
    let (begun, beginning) = AsyncStream<Void>.makeStream()
    let task = Task {
      try await provider.watchValue(forKey: key, type: .string) { updates in
        var count = 0
        for await _ in updates {
          count += 1
          beginning.finish()
        }
        return count
      }
    }
    for await _ in begun {}
    task.cancel()
    #expect(try await task.value == 1)
  }
}

/// A storage that doesn't report changes.
private struct SilentStorage: BlockingStorage, ForwardingStorage {
  let base: InMemoryStorage
}

/// A storage that can't list its items, and asks a closure for each.
private struct AskingStorage: BlockingStorage, EmptyStorage {
  let secret: @Sendable (ItemKey) throws(SecureStorageError) -> Secret?

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    guard let key = query.key else {
      throw error(.invalidArgument, during: .read, argument: "query")
    }
    return try secret(key).map { [SecureItem(key: key, secret: $0)] } ?? []
  }
}

/// A storage in which two items of other programs match every key.
private struct TwinStorage: BlockingStorage, EmptyStorage {
  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    if query.key != nil {
      throw error(.ambiguous, during: .read)
    }
    let service = query.attributes["service"] ?? ""
    return ["new", "old"].map {
      SecureItem(key: .password(service: service, account: "name"), secret: Secret($0))
    }
  }
}
#endif
