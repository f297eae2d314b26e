// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Keyring
import KeyringStorage
import KeyringToolCommands
import Synchronization
import Testing

@Suite struct CopyTests {
  private let source = InMemoryStorage()
  private let destination = InMemoryStorage()
  private let key = ItemKey.password(service: "service", account: "account")
  private let other = ItemKey.password(service: "service", account: "other")

  private func copy(
    _ selection: ItemSelection = ItemSelection(), to destination: any SecureStorage,
    replacing: Bool = false
  ) throws -> CopyReport {
    try ItemCommands(source).copy(selection, to: destination, replacing: replacing)
  }

  @Test func `a second copy stores only one item to compare the storages`() throws {
    for account in ["one", "two", "three"] {
      try source.setPassword("s3cret", for: .password(service: "service", account: account))
    }
    #expect(try copy(to: destination).copied == 3)
    let created = Mutex<[ItemKey]>([])
    let isOver = DispatchSemaphore(value: 0)
    let subscription = destination.observe(nil) { [key] event in
      guard case .changed(.created(let new)) = event else { return }
      if new == key { isOver.signal() } else { created.withLock { $0.append(new) } }
    }
    #expect(try copy(to: destination).copied == 3)
    try destination.setPassword("last", for: key)
    #expect(isOver.wait(timeout: .now() + 60) == .success)
    subscription.cancel()
    #expect(created.withLock(\.count) == 1)
  }

  @Test func `only the selected items are copied`() throws {
    try source.setPassword("first", for: key)
    try source.setPassword("second", for: .password(service: "elsewhere", account: "account"))
    #expect(try copy(ItemSelection(service: "service"), to: destination).copied == 1)
    #expect(try destination.items(matching: ItemQuery()).map(\.key) == [key])
  }

  @Test func `an item with another value is named, and the others are copied`() throws {
    try source.setPassword("first", for: key)
    try source.setPassword("second", for: other)
    try destination.setPassword("theirs", for: key)
    let report = try copy(to: destination)
    #expect(report.copied == 1)
    #expect(report.refusals.count == 1)
    #expect(report.refusals.first?.contains("username: account") == true)
    #expect(report.refusals.first?.contains("--replace") == true)
    #expect(try destination.password(for: key) == "theirs")
    #expect(try destination.password(for: other) == "second")

    #expect(try copy(to: destination, replacing: true) == copy(to: destination))
    #expect(try destination.password(for: key) == "first")
  }

  @Test func `an item that the destination can't hold is named`() throws {
    let small = AlteringStorage(base: destination, secretByteLimit: 8)
    try source.setPassword("a long password", for: key)
    try source.setPassword("short", for: other)
    let report = try copy(to: small)
    #expect(report.copied == 1 && report.refusals.first?.contains("larger than 8") == true)
  }

  @Test func `a locked storage ends the copy`() throws {
    try source.setPassword("s3cret", for: key)
    try destination.lock()
    let error = #expect(throws: SecureStorageError.self) { try copy(to: destination) }
    #expect(error?.code == .locked)
  }

  @Test func `a storage isn't copied to itself`() throws {
    try source.setPassword("s3cret", for: key)
    #expect(throws: ToolFailure.self) { try copy(to: source) }
    #expect(try source.items(matching: ItemQuery()).map(\.key) == [key])
  }
}
