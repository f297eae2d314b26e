// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Keyring
import KeyringStorage
import KeyringTesting
import Testing

/// Properties whose values expire, and the times that they report.
@Suite(.secureStorage()) struct ExpiryTests {
  private struct Settings {
    @Password("token", expiresAfter: .seconds(3600)) var token: String?
    @Password("theme", default: "light", expiresAfter: .seconds(3600)) var theme: String
    @Password("signingKey", expiresAfter: .seconds(3600)) var signingKey: Secret?
    @Credentials("account", expiresAfter: .seconds(3600)) var account: Credential?
    @InternetPassword(server: "git.example.org", expiresAfter: .seconds(3600)) var git: String?
    @SecureValue("count", expiresAfter: .seconds(3600)) var count: Int?
    @Password("stale", expiresAfter: .seconds(-1)) var stale: String?
    @Password("plain") var plain: String?
  }

  private let settings = Settings()

  @Test func `each kind of property sets the time of its items`() throws {
    let start = Date.now
    settings.token = "s3cret"
    settings.theme = "dark"
    settings.signingKey = Secret("s3cret")
    settings.account = Credential(login: "ada", password: "pa55")
    settings.git = "s3cret"
    settings.count = 1
    let all = [
      try settings.$token.dates(), try settings.$theme.dates(), try settings.$signingKey.dates(),
      try settings.$account.dates(), try settings.$git.dates(), try settings.$count.dates(),
    ]
    for dates in all {
      let expires = try #require(dates?.expires)
      // Times have whole seconds.
      #expect(expires.timeIntervalSince(start) > 3598 && expires.timeIntervalSince(start) < 3660)
      #expect(dates?.isExpired == false)
    }
    #expect(settings.account == Credential(login: "ada", password: "pa55"))
  }

  @Test func `an expired value is still there`() throws {
    settings.stale = "s3cret"
    #expect(try settings.$stale.dates()?.isExpired == true)
    #expect(try settings.$stale.read() == "s3cret" && settings.stale == "s3cret")
    #expect(try settings.$stale.exists())
  }

  @Test func `a value without an expiry never expires`() async throws {
    #expect(try await settings.$plain.dates() == nil)
    settings.plain = "s3cret"
    let dates = try #require(try await settings.$plain.dates())
    #expect(dates.expires == nil && !dates.isExpired)
    let age = Date.now.timeIntervalSince(try #require(dates.modified))
    #expect(dates.created != nil && age > -2 && age < 60)
  }

  @Test func `each write sets a new time, and keeps other attributes`() throws {
    let storage = settings.$token.storage
    settings.token = "old"
    var item = SecureItem(key: settings.$token.key, attributes: ["note": "kept"])
    item.expires = Date(timeIntervalSince1970: 0)
    try storage.save(item, mode: .update)
    #expect(try settings.$token.dates()?.isExpired == true)
    settings.token = "new"
    #expect(try settings.$token.dates()?.isExpired == false)
    #expect(try storage.item(for: settings.$token.key)?.attributes?["note"] == "kept")
  }

  @Test func `a read doesn't fetch the time`() {
    #expect(settings.$token.details == .secret && settings.$count.details == .secret)
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00Z"), (1_798_761_599, "2026-12-31T23:59:59Z"),
    (1_798_761_599.9, "2026-12-31T23:59:59Z"),
  ])
  func `the attribute is a time in UTC`(seconds: Double, text: String) {
    var item = SecureItem(key: settings.$token.key)
    item.expires = Date(timeIntervalSince1970: seconds)
    #expect(item.attributes == ["expires": text])
    #expect(item.expires == Date(timeIntervalSince1970: seconds.rounded(.down)))
    item.expires = nil
    #expect(item.attributes == ["expires": ""] && item.expires == nil)
  }

  @Test func `another text isn't a time`() {
    for text in ["", "never", "1798761599", "2026-12-31"] {
      #expect(SecureItem(key: settings.$token.key, attributes: ["expires": text]).expires == nil)
    }
  }

  @Test func `a moved item keeps its time`() throws {
    settings.stale = "s3cret"
    let other = InMemoryStorage()
    try SecureProperties(of: settings).copy(to: other)
    #expect(try other.item(for: settings.$stale.key)?.expires == settings.$stale.dates()?.expires)
  }
}
