// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringStorage
import KeyringToolCommands
import Testing

@Suite struct ItemListingTests {
  private let storage = InMemoryStorage()

  @Test func `a listing names items and hides secrets`() throws {
    try storage.setPassword("s3cret", for: .password(service: "service", account: "account"))
    try storage[.credentials(service: "service", label: "mine"), as: .credential].write(
      Credential(login: "ada", password: "s3cret"))
    // This holds even if the listing is given the secrets.
    let listing = ItemListing(try storage.items(matching: ItemQuery(details: .all)))
    #expect(listing.lines.count == 2)
    #expect(listing.lines[0].hasPrefix("credentials  label=mine service=service"))
    #expect(listing.lines[1].hasPrefix("password     service=service username=account"))
    #expect(listing.paragraphs[0].contains("attributes: username=ada"))
    #expect(!(listing.lines + listing.paragraphs).contains { $0.contains("s3cret") })
  }

  @Test func `a listing as JSON has everything but the secret`() throws {
    let key = ItemKey.credentials(service: "service", label: "mine\n\u{1B}")
    try storage[key, as: .credential].write(Credential(login: "ada", password: "s3cret"))
    let text = try ItemListing(try storage.items(matching: ItemQuery(details: .all))).json()
    #expect(!text.contains("s3cret") && !text.contains("\n") && !text.contains("\u{1B}"))
    let content = try JSONSerialization.jsonObject(with: Data(text.utf8))
    let item = try #require((content as? [[String: Any]])?.first)
    #expect(item["kind"] as? String == "credentials" && item["isLocked"] as? Bool == false)
    #expect(item["key"] as? [String: String] == ["label": "mine\n\u{1B}", "service": "service"])
    #expect(item["attributes"] as? [String: String] == ["username": "ada"])
    #expect(item["modified"] is String && item["created"] is String)
    #expect(try ItemListing([]).json() == "[]")
  }

  @Test func `labels of other programs do not reach the terminal as commands`() {
    let key = ItemKey.password(service: "service", account: "a\u{1B}[2J")
    let listing = ItemListing([SecureItem(key: key, label: "a\nb\u{202E}")])
    for text in listing.lines + listing.paragraphs {
      #expect(text.contains(#"a\u{1B}[2J"#) && text.contains(#"a\nb\u{202E}"#))
    }
  }
}
