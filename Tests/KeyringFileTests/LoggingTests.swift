// SPDX-License-Identifier: Apache-2.0

#if Logging && EncryptedFile && os(Linux)
import Foundation
import InMemoryLogging
import Keyring
import KeyringFile
import KeyringStorage
import KeyringTesting
import Logging
import TestPrograms
import Testing

/// The events in the log of a program.
@Suite struct LoggingTests {
  /// A part of each name and secret here, which no event may have.
  private static let mark = "canary"

  private let directory = TemporaryDirectory()
  private let key = ItemKey.password(service: mark, account: mark)
  private var path: String { directory.path(Self.mark) }

  private var storage: EncryptedFileStorage {
    EncryptedFileStorage(at: path, key: .keyFile(at: path + ".key"))
  }

  /// Runs synchronous code, in which a call without `await` is one.
  private func blocking(_ body: () throws -> Void) rethrows { try body() }

  /// Returns what code logs.
  private func log(
    _ body: () async throws -> Void
  ) async rethrows -> [InMemoryLogHandler.Entry] {
    let handler = InMemoryLogHandler()
    try await withLogger(logLevel: .trace, handler: handler, metadata: ["request": "7"]) { _ in
      try await body()
    }
    let entries = handler.entries
    #expect(!entries.isEmpty && !"\(entries)".lowercased().contains(Self.mark))
    #expect(entries.allSatisfy { $0.metadata["request"] == "7" && $0.error == nil })
    return entries
  }

  @Test func `a run with a fallback, a cache, a failure and a turn`() async throws {
    let unavailable = FaultyStorage()
    unavailable.fail(.read, with: .noSessionBus)
    let storage = FirstAvailableStorage([unavailable, storage]).cached()
    let entries = try await log {
      try await storage.setPassword(Self.mark, for: key)
      #expect(try await storage.password(for: key) == Self.mark)
      #expect(try await storage.password(for: key) == Self.mark)
      _ = await #expect(throws: SecureStorageError.self) {
        try await storage.setPassword(Self.mark, for: key, mode: .add)
      }
      try await storage[key].update { "\($0 ?? "") again" }
    }
    let infos = entries.filter { $0.level >= .info }
    #expect(infos.map(\.message) == ["Fallback taken"])
    #expect(
      infos.first?.metadata["keyring.selection"]
        == "EncryptedFileStorage, as InMemoryStorage has noSessionBus")
    let messages = entries.map(\.message)
    for message: Logger.Message in [
      "Key requested", "Operation succeeded", "Item wasn't cached", "Item was cached", "Turn taken",
    ] {
      #expect(messages.contains(message), "\(message)")
    }
    let save = try #require(entries.first { $0.metadata["keyring.operation"] == "save" })
    #expect(save.message == "Operation succeeded" && save.level == .trace)
    #expect(save.metadata["keyring.backend"] == "EncryptedFileStorage")
    #expect(save.metadata["keyring.microseconds"].flatMap { Int("\($0)") } ?? 0 > 0)
    let failures = entries.filter { $0.message == "Operation failed" }
    #expect(failures.map(\.metadata["keyring.code"]) == ["itemAlreadyExists"])
  }

  @Test func `an error is logged without its text, which has the path`() async throws {
    try Data("damaged".utf8).write(to: URL(fileURLWithPath: path))
    let entries = await log {
      let error = #expect(throws: SecureStorageError.self) { try storage.password(for: key) }
      #expect(error?.message.contains(path) == true)
    }
    #expect(entries.map(\.metadata["keyring.code"]) == ["damaged"])
  }

  @Test func `an operation logs with the logger of its caller, on whichever thread it runs`()
    async throws
  {
    func succeeded(_ entries: [InMemoryLogHandler.Entry]) -> Int {
      entries.count { $0.message == "Operation succeeded" }
    }
    #expect(succeeded(await log { blocking { _ = try? storage.password(for: key) } }) == 1)
    #expect(succeeded(try await log { _ = try await storage.password(for: key) }) == 1)
    #expect(
      succeeded(try await log { try blocking { try storage[key].update { _ in Self.mark } } }) > 1)
  }

  @Test func `an addition without a turn is logged`() async throws {
    let storage = EncryptedFileStorage(
      at: path, key: .keyFile(at: path + ".key"), timeout: .milliseconds(100))
    let turn = try await storage.takeTurnWithoutBlocking(for: key, details: [], timeout: nil)
    let entries = try await log {
      _ = try await storage[key].readOrStore { Self.mark }
    }
    await turn.end()
    let refusal = entries.first { $0.message == "Turn refused" }
    #expect(refusal?.metadata["keyring.code"] == "timedOut")
  }

  @Test func `a new selection is logged once`() async throws {
    let storage = FirstAvailableStorage([storage])
    let entries = try await log {
      _ = try await storage.exists(key)
      try storage.forgetSelection()
      _ = try await storage.exists(key)
      _ = try await storage.exists(key)
    }
    let selections = entries.filter { $0.metadata["keyring.selection"] != nil }
    #expect(selections.map(\.message) == ["Storage selected", "Selection changed"])
    #expect(selections.map(\.level) == [.debug, .info])
  }

  @Test func `a logger without these levels gets nothing`() async throws {
    let handler = InMemoryLogHandler()
    try await withLogger(logLevel: .notice, handler: handler) { _ in
      try await storage.setPassword(Self.mark, for: key)
    }
    #expect(handler.entries.isEmpty)
  }

  @Test func `the article has each event, each key and each metric`() throws {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Sources")
    func text(_ path: String) throws -> String {
      try String(contentsOf: sources.appendingPathComponent(path), encoding: .utf8)
    }
    let code = try text("KeyringRuntime/Events/KeyringEvent.swift")
    let article = try text("Keyring/Documentation.docc/Logging.md")
    let events = code.matches(of: /KeyringEvent\(\s*\.(\w+), "([^"]+)"/).map { "\($0.2): \($0.1)" }
    let rows = article.matches(of: /\| ([^|`]+) \| (trace|debug|info) \|/).map {
      "\($0.1): \($0.2)"
    }
    #expect(events == rows && events.count > 15)
    let metrics = code.matches(of: /\.(counter|timer)\("([^"]+)"\)/).map { "\($0.2): \($0.1)" }
    #expect(
      metrics
        == article.matches(of: /\| `([^`]+)` \| (counter|timer) \|/).map { "\($0.1): \($0.2)" })
    let keys = Set(code.matches(of: /"(keyring\.\w+)"/).map { "\($0.1)" })
    #expect(keys == Set(article.matches(of: /\| `(keyring\.\w+)` \|/).map { "\($0.1)" }))
  }
}
#endif
