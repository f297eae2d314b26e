// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringStorage
import KeyringToolCommands
import Testing

@Suite struct ExpiryTests {
  private let storage = InMemoryStorage()
  private let selection = ItemSelection(service: "service", account: "me")
  private var commands: ItemCommands { ItemCommands(storage) }
  private let past = Date(timeIntervalSince1970: 0)
  private let future = Date(timeIntervalSinceNow: 3600)

  @Test(arguments: [
    ("30m", 1800), ("12h", 43_200), ("90d", 7_776_000), ("4w", 2_419_200), ("0d", 0), ("90s", 90),
    ("1970-01-02", 86_400), ("1970-01-01T00:00:01Z", 1), ("1970-01-01T01:00:01+01:00", 1),
    ("1969-12-31t20:30:01.9-03:30", 1), ("1970-01-01 00:00:01z", 1),
  ])
  func `a time is a distance from now, a day or a time`(text: String, seconds: Double) {
    #expect(ExpiryTime(text, now: past)?.date == Date(timeIntervalSince1970: seconds))
  }

  @Test(arguments: [
    "", "d", "90", "-1d", "1.5d", "90 d", "90y", "tomorrow", "1970-13-01", "1970-01-01T00:00:01",
    "01/02/1970", "1970", "90d2h", "99999999999d", "2027-02-30",
    "1970-01-01T00:00:00+24:00", "1970-01-01T00:00:00+0100", "2027-02-30T00:00:00+01:00",
  ])
  func `another text is no time`(text: String) {
    #expect(ExpiryTime(text) == nil)
  }

  @Test func `only expired items are listed on request`() throws {
    for (account, expires) in [("past", past), ("future", future), ("never", nil)] {
      let selection = ItemSelection(service: "service", account: account)
      try commands.set(Secret("s3cret"), for: selection, expires: expires)
    }
    let all = try commands.list(ItemSelection())
    #expect(all.lines.count == 3)
    let text = all.paragraphs.joined()
    #expect(text.contains("expired: 1970-01-01T00:00:00Z"))
    #expect(text.contains("expires: \(future.ISO8601Format())"))
    let expired = try commands.list(ItemSelection(), isExpired: true)
    #expect(expired.lines.count == 1 && expired.lines[0].contains("username=past"))
    #expect(try expired.json().contains(#""expires":"1970-01-01T00:00:00Z","isExpired":true"#))
    #expect(
      try commands.secret(ItemSelection(service: "service", account: "past")).text == "s3cret")
  }

  @Test func `a new secret doesn't get the time of the old one`() throws {
    let key = ItemKey.password(service: "service", account: "me")
    try commands.set(Secret("old"), for: selection, expires: past)
    #expect(try storage.item(for: key)?.expires == past)
    try commands.set(Secret("new"), for: selection)
    #expect(try storage.item(for: key)?.expires == nil)
    #expect(try commands.list(ItemSelection(), isExpired: true).lines.isEmpty)
    // An item that never expired gets no attribute.
    #expect(try commands.remove(selection) == 1)
    try commands.set(Secret("new"), for: selection)
    try commands.set(Secret("newer"), for: selection)
    #expect(try storage.item(for: key)?.attributes == [:])
  }
}
