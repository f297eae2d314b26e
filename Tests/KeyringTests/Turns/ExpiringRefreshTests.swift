// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Keyring
import KeyringStorage
import KeyringTesting
import TestPrograms
import Testing

/// Declarations that know when their values expire.
@Suite(.secureStorage(), .timeLimit(.minutes(1))) struct ExpiringRefreshTests {
  struct Tokens: Codable, Equatable, Sendable {
    var access: String
    var expires: Date?
  }

  private struct Settings {
    @SecureValue("tokens", expires: \.expires) var tokens: Tokens?
    @Password("token", expiresAfter: .seconds(3600)) var token: String?
    @Credentials("account", expiresAfter: .seconds(3600)) var account: Credential?
    @Password("plain") var plain: String?
  }

  private let settings = Settings()
  private let clock = ManualClock(now: Date(timeIntervalSince1970: 1_800_000_000))

  @Test func `a value is renewed when its own end is near`() async throws {
    try await clock.run {
      let first = Tokens(access: "first", expires: clock.now + 3600)
      settings.tokens = first
      #expect(try await settings.$tokens.dates()?.expires == clock.now + 3600)
      clock.advance(by: .seconds(3539))
      let found = try blocking { try settings.$tokens.refresh(within: .seconds(60)) { _ in nil } }
      #expect(found == first)
      #expect(
        try await settings.$tokens.refresh(within: .seconds(60)) { await renewed($0) } == first)
      clock.advance(by: .seconds(1))
      #expect(try await settings.$tokens.refresh(within: .seconds(59)) { _ in nil } == first)
      let second = try blocking {
        try settings.$tokens.refresh(within: .seconds(60)) {
          Tokens(access: $0.access + ", second", expires: clock.now + 3600)
        }
      }
      #expect(second?.access == "first, second" && settings.tokens == second)
      #expect(try await settings.$tokens.dates()?.expires == clock.now + 3600)
      clock.advance(by: .seconds(7200))
      #expect(try await settings.$tokens.dates()?.isExpired == true)
      let third = try await settings.$tokens.refresh(within: .zero) { await renewed($0) }
      #expect(third?.access == "renewed" && settings.tokens == third)
      #expect(try await settings.$tokens.dates()?.isExpired == false)
    }
  }

  private func renewed(_ old: Tokens) async -> Tokens {
    Tokens(access: "renewed", expires: clock.now + 3600)
  }

  @Test func `a value is renewed when the time since its write is nearly over`() async throws {
    try await clock.run {
      settings.token = "first"
      settings.account = Credential(login: "ada", password: "first")
      clock.advance(by: .seconds(3539))
      #expect(try await settings.$token.refresh(within: .seconds(60)) { _ in nil } == "first")
      clock.advance(by: .seconds(1))
      let found = try blocking {
        try settings.$token.refresh(within: .seconds(60)) { _ in "second" }
      }
      #expect(found == "second")
      #expect(try await settings.$token.refresh(within: .seconds(60)) { _ in nil } == "second")
      let account = try await settings.$account.refresh(within: .seconds(60)) {
        Credential(login: $0.login, password: "second")
      }
      #expect(account?.password == "second" && account == settings.account)
      // Another value or not, it's valid for the whole time again.
      clock.advance(by: .seconds(3600))
      #expect(try await settings.$token.refresh(within: .seconds(60)) { $0 } == "second")
      #expect(try await settings.$token.dates()?.expires == clock.now + 3600)
      clock.advance(by: .seconds(1800))
      try await settings.$token.update { $0 }
      #expect(try await settings.$token.dates()?.expires == clock.now + 3600)
    }
  }

  @Test func `a value without a time isn't renewed`() async throws {
    try await clock.run {
      settings.tokens = Tokens(access: "endless", expires: nil)
      settings.plain = "s3cret"
      try await SecureStorageDefaults.currentStorage.setPassword("old", for: settings.$token.key)
      clock.advance(by: .seconds(1_000_000))
      let time = Duration.seconds(1_000_000_000)
      #expect(try await settings.$tokens.refresh(within: time) { _ in nil }?.access == "endless")
      #expect(try await settings.$plain.refresh(within: time) { _ in nil } == "s3cret")
      #expect(try await settings.$token.refresh(within: time) { _ in nil } == "old")
    }
  }

  /// One that waited for another one finds a value that is valid again.
  @Test func `many tasks renew a value once`() async throws {
    let storage = FaultyStorage()
    let key = ItemKey.value(service: "service", account: "tokens")
    let tokens = storage[key, as: .value(Tokens.self).expiring(at: \.expires)]
    let clock = clock
    try await clock.run {
      try await tokens.write(Tokens(access: "0", expires: clock.now + 30))
      let found = try await withThrowingTaskGroup(of: Tokens?.self) { group in
        for _ in 0..<64 {
          group.addTask {
            try await tokens.refresh(within: .seconds(60)) { old in
              // The others are on their way, or wait.
              #expect(await waitUntil { storage.count(of: .takeTurn) == 64 })
              return Tokens(access: old.access + "1", expires: clock.now + 3600)
            }
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(found.allSatisfy { $0?.access == "01" })
      #expect(storage.count(of: .save) == 2)
    }
  }
}
