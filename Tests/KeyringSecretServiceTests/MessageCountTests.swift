// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringRuntime
import KeyringStorage
import Synchronization
import Testing

@testable import KeyringSecretService

/// The messages that each use of a property sends: the tables of the article `Performance.md`.
@Suite(.inPrivateSession) struct MessageCountTests {
  @Test(arguments: CountedUse.allCases)
  func `each use sends the documented messages`(use: CountedUse) throws {
    try withSecureStorage(SecretServiceStorage()) {
      let settings = CountedSettings(service: PrivateSession.newService())
      try use.prepare(settings)
      let monitor = try BusMonitor()
      // Otherwise, the next search may ask for the lock again.
      let seenUnlocked = try openSession().seenUnlocked
      for collection in seenUnlocked.keys { seenUnlocked[collection] = .now }
      let start = try Self.waits()
      try use.perform(settings)
      var waits = String(try Self.waits() - start)
      var messages = try monitor.finish()
      // KWallet has another key than its caller for one session in 256, and the program opens another one.
      if Provider.current == .kwallet, let last = messages.lastIndex(of: "OpenSession") {
        messages.removeFirst(last)
      }
      if [.readAtStart, .readAbsentAtStart].contains(use) {
        // gnome-keyring 42 answers about one in a hundred searches beside an opening with a default collection of another
        // name, whose bytes look like freed memory. The library then searches again.
        let counts = try (0..<4).map { _ in
          try Self.waitsOfFirstRead(of: settings.passwords.$token.key)
        }
        waits = "opening, \(counts.min() ?? 0)"
      }
      #expect(settings.passwords.$token.failure == nil)
      #expect(settings.$account.failure == nil)
      try SecureProperties(of: settings).removeAll()
      let documented = try Self.documentedMessages()[use.rawValue]
      #expect(documented == Self.cells(messages, waits))
    }
  }

  /// GLib 2.82 and earlier parse a type again for each value of it, unless another value has it.
  @Test func `a value keeps the types of all messages of a read, a change and a removal`() throws {
    let (collection, item) = (ObjectPath("/collection"), ObjectPath("/collection/1"))
    let secret = try #require(try openSession().encode(Secret("secret")))
    let messages: [MethodCall] = [
      .searchItems(in: collection, ["service": "x"]), .getSecrets([item], session: collection),
      .isLocked(collection), .attributes(ofItem: item), .properties(of: item),
      .setSecret(secret, of: item), .delete(item),
      .createItem(
        in: collection, attributes: [:], label: "", secret: secret, replacing: true),
    ]
    let kept = Variant.ofAllTypes.type
    for message in messages {
      #expect(message.arguments.map { kept.contains($0.type) } ?? true)
      // An answer without arguments has no value.
      #expect(kept.contains("\(message.answer)") || message.answer.utf8CodeUnitCount == 2)
    }
  }

  private static func waits(at address: String? = nil) throws -> Int {
    try openSession(at: address).connection.waits.load(ordering: .relaxed)
  }

  /// Returns the waits of a read that opens a session, without those of the opening.
  ///
  /// Another process's waits can't be counted, but each spelling of the bus's address has a session of its own.
  private static func waitsOfFirstRead(of key: ItemKey) throws -> Int {
    let address = try #require(ProcessInfo.processInfo.environment["DBUS_SESSION_BUS_ADDRESS"])
    let addresses = (0..<2).map { _ in "\(address);unix:path=/\(UUID().uuidString)" }
    let storage = SecretServiceStorage(options: .init(busAddress: addresses[0]))
    _ = try storage.password(for: key)
    return try waits(at: addresses[0]) - waits(at: addresses[1])
  }

  @Test func `a change without a signal of the keyring is announced before and after`() throws {
    let settings = CountedSettings(service: PrivateSession.newService())
    try withSecureStorage(SecretServiceStorage()) {
      try CountedUse.replace.prepare(settings)
      let monitor = try BusMonitor(signals: true)
      try CountedUse.replace.perform(settings)
      let messages = try monitor.finish().filter { $0.hasPrefix("Secret") || $0 == "SetSecret" }
      let isSilent = Provider.current == .gnomeKeyring
      let expected = isSilent ? ["SecretChanging", "SetSecret", "SecretSet"] : ["SetSecret"]
      #expect(messages == expected)
      try SecureProperties(of: settings).removeAll()
    }
  }

  @Test func `both forms of readOrStore wait as often for the keyring`() async throws {
    let service = PrivateSession.newService()
    let storage = SecretServiceStorage().service(service)
    func synchronously() throws { _ = try storage.password("first").readOrStore { "s3cret" } }
    func countWaits(of use: () async throws -> Void) async throws -> Int {
      let seenUnlocked = try openSession().seenUnlocked
      for collection in seenUnlocked.keys { seenUnlocked[collection] = .now }
      let start = try Self.waits()
      try await use()
      return try Self.waits() - start
    }
    let first = try await countWaits { try synchronously() }
    let second = try await countWaits {
      _ = try await storage.password("second").readOrStore { "s3cret" }
    }
    #expect(first == second)
    try await storage.removeAll()
  }

  @Test func `the counted uses are the documented ones`() throws {
    let documented = try Set(Self.documentedMessages().keys)
    #expect(documented == Set(CountedUse.allCases.map(\.rawValue)))
  }

  /// Returns the cells about this provider in the article's tables, by the use in their row.
  private static func documentedMessages() throws -> [String: [String]] {
    let repository = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let article = repository.appending(path: "Sources/Keyring/Documentation.docc/Performance.md")
    var columns: Range<Int>?
    var cells: [String: [String]] = [:]
    for line in try String(contentsOf: article, encoding: .utf8).split(separator: "\n") {
      guard line.hasPrefix("|") else {
        columns = nil
        continue
      }
      let row = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      if row[0] == "use" {
        columns = Provider.current.columns(in: row)
      } else if let columns, !row[0].hasPrefix("-") {
        cells[row[0]] = Array(row[columns])
      }
    }
    return cells
  }

  /// Returns the cells about a use: the number of waits, the number of messages, and on gnome-keyring their names.
  private static func cells(_ messages: [String], _ waits: String) -> [String] {
    if Provider.current != .gnomeKeyring { return ["\(waits); \(messages.count)"] }
    var runs: [(name: String, count: Int)] = []
    for name in messages {
      if runs.last?.name == name {
        runs[runs.count - 1].count += 1
      } else {
        runs.append((name, 1))
      }
    }
    let names = runs.map { $0.count == 1 ? "`\($0.name)`" : "\($0.count) `\($0.name)`" }
    return [waits, "\(messages.count)", names.joined(separator: ", ")]
  }
}

extension Provider {
  /// Returns the columns about the provider in a table with this head, if any.
  fileprivate func columns(in head: [String]) -> Range<Int>? {
    switch self {
    case .gnomeKeyring: head[1] == "waits" ? 1..<4 : nil
    case .kwallet: head.firstIndex(of: "KWallet").map { $0..<$0 + 1 }
    case .keepassxc: head.firstIndex(of: "KeePassXC").map { $0..<$0 + 1 }
    }
  }
}

/// A row of the table.
enum CountedUse: String, CaseIterable {
  case readAtStart = "a program's first read"
  case readAbsentAtStart = "a program's first read, where there is no value"
  case read = "reading a value"
  case readUnknown = "reading a value of a key that was not used before"
  case readAbsent = "reading where there is no value"
  case exists = "`exists()`"
  case existsUnknown = "`exists()` of a key that was not used before"
  case create = "assigning the first value"
  case replace = "assigning another value"
  case replaceUnknown = "assigning another value to a key that was not used before"
  case newCredential = "assigning the first `Credential`"
  case newLogin = "assigning a `Credential` with a new login"
  case remove = "assigning `nil`"
  case removeAbsent = "assigning `nil` where there is no value"
  case readAll = "`readAll()` of three passwords"
  case readAllAbsent = "`readAll()` of three passwords, none of them there"
  case removeAll = "`removeAll()` of three passwords"
  case listKeys = "listing the three passwords of a service"
  case listMetadata = "the same with their metadata"
  case update = "`update` of a value"
  case refreshValid = "`refresh(if:)` of a value that is still valid"
  case add = "adding a value"
  case removeService = "removing the three passwords of a service by a query"

  func prepare(_ settings: CountedSettings) throws {
    // The connection of this process is open before every use.
    _ = try settings.passwords.$token.exists()
    switch self {
    case .readAtStart, .read, .exists, .replace, .remove, .update, .refreshValid:
      try settings.passwords.$token.write("old")
    case .readUnknown, .existsUnknown, .replaceUnknown:
      let service = settings.passwords.service
      #expect(try Program.worker("save", service, "token", "old").finish().status == 0)
    case .newLogin: try settings.$account.write(Credential(login: "ada", password: "pa55"))
    case .readAbsentAtStart, .readAbsent, .create, .newCredential, .removeAbsent, .readAllAbsent,
      .add:
      break
    case .readAll, .removeAll, .removeService, .listKeys, .listMetadata:
      try settings.passwords.write("old")
    }
  }

  func perform(_ settings: CountedSettings) throws {
    let passwords = settings.passwords
    switch self {
    case .readAtStart:
      let worker = try Program.worker("read", passwords.service, "token", "never")
      let (status, output) = try worker.finish()
      #expect(status == 0 && String(decoding: output, as: UTF8.self) == "old\n")
    case .readAbsentAtStart: #expect(try Program.worker("start", "1").finish().status == 0)
    case .read, .readUnknown: #expect(passwords.token == "old")
    case .readAbsent: #expect(passwords.token == nil)
    case .exists, .existsUnknown: #expect(try passwords.$token.exists())
    case .create, .replace, .replaceUnknown: passwords.token = "new"
    case .newCredential, .newLogin:
      settings.account = Credential(login: "lovelace", password: "pa55")
    case .remove, .removeAbsent: passwords.token = nil
    case .readAll: #expect(try passwords.readThird() == "old")
    case .readAllAbsent: #expect(try passwords.readThird() == nil)
    case .removeAll: try SecureProperties(of: passwords).removeAll()
    case .listKeys:
      #expect(try SecretServiceStorage().items(matching: .service(passwords.service)).count == 3)
    case .listMetadata:
      let query = ItemQuery.service(passwords.service, details: .metadata)
      #expect(try SecretServiceStorage().items(matching: query).count == 3)
    case .update: #expect(try passwords.$token.update { $0.map { _ in "new" } } == "new")
    case .refreshValid:
      #expect(try passwords.$token.refresh(if: { $0 != "old" }) { _ in "new" } == "old")
    case .add: try passwords.$token.write("new", mode: .add)
    case .removeService:
      #expect(try SecretServiceStorage().removeItems(matching: .service(passwords.service)) == 3)
    }
  }
}

/// The settings of a service that only one test uses.
struct CountedSettings {
  let passwords: CountedPasswords
  @Credentials var account: Credential?

  init(service: String) {
    passwords = CountedPasswords(service: service)
    _account = Credentials("account", service: service)
  }
}

struct CountedPasswords {
  let service: String
  @Password<String?> var token: String?
  @Password<String?> var second: String?
  @Password<String?> var third: String?

  init(service: String) {
    self.service = service
    _token = Password("token", service: service)
    _second = Password("second", service: service)
    _third = Password("third", service: service)
  }

  func write(_ value: String) throws {
    for property in [$token, $second, $third] { try property.write(value) }
  }

  func readThird() throws -> String? { try SecureProperties(of: self).readAll()[$third] }
}
#endif
