// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

/// A provider that doesn't answer several calls in a row.
@Suite(.withOwnKeyring) struct SilentProviderTests {
  private let bus: PrivateBus
  private let service: FakeService
  private static let first = "Try again. If it fails again, restart the keyring."
  private static let next = "Restart the keyring, which failed to answer twice in a row."

  init() throws { (bus, service) = try PrivateBus.with { try FakeService(on: $0) } }

  /// The bus itself answers in this time.
  private var storage: SecretServiceStorage { bus.storage(serviceTimeout: .seconds(1)) }

  private func expect(
    _ suggestion: String, _ use: StorageUse = .read,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = use.expectFailure(.timedOut, storage, sourceLocation: sourceLocation)
    #expect(error?.recoverySuggestion == suggestion, sourceLocation: sourceLocation)
  }

  @Test(.tags(.slow), arguments: ["OpenSession", "SearchItems"])
  func `the second time in a row, the next step is a restart`(method: String) throws {
    if method != "OpenSession" { #expect(try bus.storage().password(for: StorageUse.key) == nil) }
    try service.fault(method, .mute)
    expect(Self.first)
    expect(Self.next)
    expect(Self.next, .save)
    try service.reset()
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    try service.fault("GetSecrets", .mute)
    expect(Self.first)
    expect(Self.next)
    // A refusal is an answer.
    try service.fault("GetSecrets", .error("org.example.Error.Odd"))
    StorageUse.read.expectFailure(.other, bus.storage())
    try service.fault("GetSecrets", .mute)
    expect(Self.first)
    try service.restart()
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    try service.fault("SearchItems", .mute)
    expect(Self.first)
  }

  @Test func `a known keyring is named`() throws {
    try service.takeName("org.gnome.keyring")
    #expect(try bus.storage().password(for: StorageUse.key) == nil)
    try service.fault("SearchItems", .mute)
    expect(Self.first)
    expect("Restart gnome-keyring, which failed to answer twice in a row.")
  }

  @Test(.tags(.slow)) func `calls at the same time count as one`() async throws {
    #expect(try await bus.storage().password(for: StorageUse.key) == nil)
    try service.fault("SearchItems", .mute)
    for suggestion in [Self.first, Self.next] {
      let storage = bus.storage(serviceTimeout: .seconds(3))
      let suggestions = await withTaskGroup(of: String?.self) { group in
        for account in 0..<10 {
          group.addTask {
            do throws(SecureStorageError) {
              let key = ItemKey.password(service: "service", account: "\(account)")
              _ = try await storage.password(for: key)
              return nil
            } catch {
              return error.recoverySuggestion
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(suggestions == Array(repeating: suggestion, count: 10))
    }
  }

  @Test func `a user who doesn't answer isn't a silent keyring`() throws {
    try bus.storage().lock()
    try service.fault("Unlock", .prompt(.mute))
    for _ in 0..<2 {
      let error = StorageUse.unlock.expectFailure(
        .timedOut, bus.storage(promptTimeout: .milliseconds(200)))
      #expect(error?.recoverySuggestion == "Try again, and answer the prompt.")
    }
  }
}
#endif
