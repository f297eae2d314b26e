// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringPlatform
internal import KeyringStorage

/// The trial of metadata: labels, attributes, comments and times.
extension ContractTrial {
  func metadataReadsBack() throws {
    let start = Date()
    let attributes = ["environment": "test", "empty": "", "umlaut": "\u{E4}\n"]
    try storage.save(
      SecureItem(
        key: password(), secret: Secret("first"), label: "A label", attributes: attributes),
      mode: .add)
    let first = try metadata()
    try expect(first.label == "A label", "the label reads back as \(first.label ?? "none")")
    try expect(first.attributes == attributes, "the attributes read back differently")
    try expect(first.secret == nil, "a secret came without being asked for")

    try save("second", password())
    let second = try metadata()
    try expect(second.label == "A label", "a new secret changed the label")
    try expect(second.attributes == attributes, "a new secret changed the attributes")
    guard let created = second.created, let modified = second.modified else {
      throw violation("an item has no times")
    }
    // Keyrings store whole seconds.
    try expect(created >= start - 1 && created <= Date() + 1, "created is \(created)")
    try expect(created == first.created, "a new secret changed when the item was created")
    try expect(modified >= created, "modified \(modified) is before created \(created)")

    try storage.save(
      SecureItem(key: password(), secret: Secret("third"), label: "Another label"), mode: .update)
    try expect(metadata().label == "Another label", "the label did not change with the secret")
    try expectStored("third", password(), "after changing the label with the secret")

    try save("fourth", password("plain"))
    let plain = try storage.item(for: password("plain"), details: .metadata)
    try expect(plain?.label?.isEmpty == false, "an item saved without a label has an empty one")
    try expect(plain?.label?.contains("/") == false, "a label has a slash")
    try expect(plain?.attributes == [:], "an item has attributes that it wasn't saved with")
  }

  func labelChangesAlone() throws {
    try save("secret", password())
    try storage.save(SecureItem(key: password(), label: "Another label"), mode: .update)
    try expect(metadata().label == "Another label", "the label didn't change")
    try expectStored("secret", password(), "after changing the label")

    try storage.save(
      SecureItem(key: password(), attributes: ["environment": "test"]), mode: .update)
    try expect(metadata().attributes == ["environment": "test"], "the attributes did not change")
    try expect(metadata().label == "Another label", "changing attributes changed the label")
    try expectStored("secret", password(), "after changing the attributes")

    try storage.save(SecureItem(key: password()), mode: .update)
    let unchanged = try metadata()
    try expect(unchanged.label == "Another label", "an update without a label changed it")
    try expect(
      unchanged.attributes == ["environment": "test"], "an update without attributes changed them")
    try expectStored("secret", password(), "after an update without a secret")

    try expect(.invalidArgument, "secret", of: "saving a new item without a secret") {
      try storage.save(SecureItem(key: password("new"), label: "label"), mode: .addOrReplace)
    }
  }

  func commentsAndLocksAreMetadata() throws {
    var item = SecureItem(key: password(), secret: Secret("s3cret"))
    item.comment = "a comment"
    try storage.save(item, mode: .add)
    let found = try storage.item(for: password(), details: .metadata)
    try expect(
      found?.comment == "a comment", "the comment reads back as \(found?.comment ?? "none")")
    try expect(found?.isLocked == false, "an unlocked item does not say so")
    item.secret = nil
    item.comment = "another comment"
    try storage.save(item, mode: .update)
    let changed = try storage.item(for: password())
    try expect(changed?.comment == "another comment", "the comment did not change")
    try expect(changed?.secret == Secret("s3cret"), "changing the comment changed the secret")
  }

  func newestComesFirst() throws {
    let credential = credentials()
    for login in ["first", "second"] {
      try storage[credential, as: .credential].write(Credential(login: login, password: "password"))
    }
    let first = try storage.item(for: credential, details: .metadata)
    // Keyrings store whole seconds, so there's no visible order until the clock has moved on. Also,
    // gnome-keyring doesn't count saving the same secret again as a modification.
    let end = ContinuousClock.now + .seconds(3)
    var number = 0
    var isLast = false
    repeat {
      try expect(!isLast, "the modification time didn't change in three seconds of saving")
      // A slow save still counts, because only its begin is late.
      isLast = ContinuousClock.now > end
      number += 1
      try save("later \(number)", password())
    } while try metadata().modified == first?.modified

    var query = ItemQuery.service(service)
    let keys = try storage.items(matching: query).map(\.key)
    try expect(keys == [password(), credential], "the newest item comes last")
    query.limit = 1
    let limited = try storage.items(matching: query).map(\.key)
    try expect(limited == [password()], "a search limited to one item found an older one")
    try storage.removeItems(matching: query)
    try expect(storage.exists(credential), "a removal limited to one item took an older one")

    // The clock has moved on since the credential was first stored.
    try storage[credential, as: .credential].write(Credential(login: "third", password: "password"))
    let last = try storage.item(for: credential, details: .metadata)
    try expect(last?.created == first?.created, "a new login changed when the item was created")
  }

  private func metadata() throws -> SecureItem {
    if let item = try storage.item(for: password(), details: .metadata) { return item }
    throw violation("a stored item is missing")
  }
}
