// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)

// MARK: - Visibility

extension Provider {
  /// Also finds the items of a locked collection.
  ///
  /// gnome-keyring 42.1 and KWallet 5.103 list them as locked. KeePassXC 2.7.4 answers as if the
  /// collection were empty, and reports each item as deleted when it locks the collection. Version 2.7.10 crashes if
  /// it's searched while it unlocks one.
  var listsLockedItems: Bool { program == .gnomeKeyring || isKWallet }

  /// Lists every collection that exists.
  ///
  /// gnome-keyring 42.1 and KWallet 5.103 list every collection that they have on disk. KeePassXC 2.7.4
  /// lists the databases that are open, and doesn't know any others.
  var listsAllCollections: Bool { program == .gnomeKeyring || isKWallet }

  /// May have a collection that ends with the user's session although its path doesn't say so.
  ///
  /// None does in KeePassXC 2.7.4 and KWallet 5.103. gnome-keyring 42.1 has one with the name "session".
  var mayAliasSession: Bool { !isKnown }

  /// Has an object for each alias, which receives messages for the collection.
  ///
  /// oo7's daemon has none for its session collection.
  var hasAliasObjects: Bool { isKnown }

  /// Keeps the default collection that the user has chosen.
  ///
  /// It does in gnome-keyring 42.1 and KWallet 5.103. In KeePassXC 2.7.4 it is the database whose tab is
  /// in front.
  var keepsDefaultCollection: Bool { program == .gnomeKeyring || isKWallet }

  /// Gives a new collection exactly the label that was sent.
  ///
  /// gnome-keyring 42.1 keeps every label. KWallet 5.103 reads the label "X__1_" back as "X".
  var keepsCollectionLabels: Bool { program == .gnomeKeyring }

  /// May keep a collection in a file that has the name of its label.
  ///
  /// In oo7's daemon, it is. After a restart of the daemon, the label has other capitals, and a collection with
  /// "/" in its label is gone. gnome-keyring 42.1 and KWallet 5.103 keep such labels.
  var mayNameFilesAfterLabels: Bool { !isKnown }
}

// MARK: - Listing

extension Provider {
  /// Lists found items newest first, by `Modified`, in whole seconds.
  ///
  /// gnome-keyring 42.1 does. Its time for each property is in proportion to the number of items, so it's
  /// worth an effort to examine fewer items, or fewer of their properties. In KWallet 5.103 all properties
  /// together take as long as one.
  var listsNewestFirst: Bool { program == .gnomeKeyring }

  /// Finds all items by a search without attributes.
  ///
  /// KeePassXC 2.7.4 finds nothing.
  var findsAllWithoutAttributes: Bool { program == .gnomeKeyring }
}

// MARK: - Storing

extension Provider {
  /// Refuses to change or to remove an item of a locked collection.
  ///
  /// gnome-keyring 42.1 refuses both. KWallet 5.103 acknowledges a write, but stores nothing.
  var refusesWritesWhileLocked: Bool { program == .gnomeKeyring }

  /// Never gives the path of an item to another one while it runs.
  ///
  /// gnome-keyring 42.1 counts its items up.
  var keepsItemPaths: Bool { program == .gnomeKeyring }

  /// Writes a changed secret, label or attributes to the disk, as those of a new item.
  ///
  /// If it doesn't, each change creates an item. oo7's daemon only keeps them in memory.
  var storesChanges: Bool { isKnown }

  /// Replaces and removes one item at a time.
  ///
  /// oo7's daemon removes all items from its file that have the attributes of the removed one, and maybe more.
  var changesOneItem: Bool { isKnown }

  /// Shows an item at every moment of its replacement.
  ///
  /// oo7's daemon removes an item, and then creates the one that replaces it.
  var replacesAtOnce: Bool { isKnown }

  /// May write an item's attributes to the disk before its secret and its label.
  ///
  /// If the label changes, or the attributes together with the secret, another item is then created, and the
  /// old one stays. KWallet 5.103 to 6.30 write attributes at once. Labels and secrets follow five seconds
  /// after the last write of any program. A new label is the name of another entry, which is empty until then.
  /// gnome-keyring 42.1 has written all of them when it acknowledges an item. KeePassXC 2.7.4 writes them later,
  /// at the same time.
  var delaysSecrets: Bool { program != .gnomeKeyring && program != .keepassxc }

  /// The time for which a secret is certainly not on disk after it was written.
  ///
  /// For KWallet 5.103 to 6.30, it's five seconds. It's zero if it isn't known.
  var shortestDelay: Duration { isKWallet ? .seconds(5) : .zero }

  /// The time for which the collection's `Modified` stays the same before all secrets are certainly on disk.
  ///
  /// It's `nil` if that property doesn't tell. In KWallet 5.103 to 6.30, it's the whole second of the last write.
  /// The first five seconds without a write are enough. However, KWallet 5.103 and 6.13 don't count programs that
  /// create or remove a directory, or write an entry of a given type, through KWallet's own interface.
  var quietTime: Duration? { isKWallet ? .seconds(60) : nil }

  /// Acknowledges a secret only after it's on the disk.
  ///
  /// gnome-keyring 42.1 has written it. KWallet 5.103 to 6.30 and KeePassXC 2.7.4 write it later.
  var writesBeforeAnswers: Bool { program == .gnomeKeyring }

  /// Returns the label to send for a new item.
  ///
  /// KWallet 5.103 to 6.30 store secrets under labels. After a crash, an item with the label of a removed one
  /// would have its secret. They number the items that have the same label, in a form that they also accept.
  /// Programs see the label without the number, and users of KWallet's window see both. "X/" is an entry "X/"
  /// without a number, and an entry without a name with one.
  func numbered(_ label: String) -> String {
    guard numbersLabels, label.utf8.last != UInt8(ascii: "/") else { return label }
    return "\(label)__\(Int32.random(in: 0...Int32.max))_"
  }

  /// Ends the labels of new items with a number.
  var numbersLabels: Bool { isKWallet }

  /// Returns the label of an item without its number.
  ///
  /// KWallet 5.103 to 6.30 show the number if there is a line feed in the label.
  static func withoutNumber(_ label: String) -> String {
    var rest = label.utf8[...]
    let underscore = UInt8(ascii: "_")
    guard rest.contains(UInt8(ascii: "\n")), rest.popLast() == underscore else { return label }
    let digits = rest.reversed().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    rest.removeLast(digits.count)
    let isNumber = !digits.isEmpty && rest.popLast() == underscore && rest.popLast() == underscore
    return isNumber ? String(Substring(rest)) : label
  }

  /// The attributes with which the provider creates an item that has another secret.
  ///
  /// ksecretd 6.30 stores the secret of a new item with this type as a dictionary, which is empty if the secret
  /// isn't a JSON object. KWallet 5.103 and 6.13 don't know the type.
  var attributesChangingSecrets: [String: String] { program == .ksecretd ? ["type": "map"] : [:] }

  /// Returns `true` for a secret that the provider would leave out of a new item.
  ///
  /// KeePassXC 2.7.4 does if the secret has a reference to another entry, and reports a dismissed prompt.
  func refuses(_ secret: Secret) -> Bool {
    guard program == .keepassxc else { return false }
    return secret.withUnsafeBytes { bytes in
      let start = Array("{REF:".utf8)
      return bytes.indices.contains { position in
        // Only here, bytes of the secret are copied.
        guard bytes[position] == UInt8(ascii: "{") else { return false }
        let reference = bytes[position...].prefix(9).map { $0 | 0x20 }
        guard reference.count == 9, zip(reference, start).allSatisfy({ $0 == $1 | 0x20 }),
          "tupani".utf8.contains(reference[5]), reference[6] == UInt8(ascii: "@") | 0x20,
          "tupanio".utf8.contains(reference[7]), reference[8] == UInt8(ascii: ":")
        else { return false }
        let value = bytes[(position + 9)...].prefix { $0 != UInt8(ascii: "}") }
        return !value.isEmpty && value.endIndex < bytes.endIndex
      }
    }
  }

  /// May keep a collection in a text file, which changes some secrets.
  ///
  /// gnome-keyring 42.1 to 51.1 does if the collection's password is empty. ``CollectionFile`` describes the
  /// file. KWallet 5.103 and KeePassXC 2.7.4 always encrypt their files.
  var mayKeepCollectionsAsText: Bool { !isKWallet && program != .keepassxc }

  /// Adds attributes by itself.
  var addsAttributes: Bool { program == .keepassxc || program == nil }

  /// Returns `true` for an attribute that the provider adds by itself, hidden from callers.
  ///
  /// KeePassXC 2.7.4 to 2.8.0 list an entry's own fields as attributes, the content type of a secret that isn't text, and
  /// the current one-time code, which it refuses to get back. gnome-keyring 42.1 and KWallet 5.103 add none. Other
  /// providers may keep the content type as oo7's daemon does.
  func reserves(_ attribute: String) -> Bool {
    switch program {
    case .keepassxc:
      Self.fieldsOfKeePassXC.contains(attribute) || attribute.hasPrefix("KP2A_URL")
        || keepsSecret(inAttribute: attribute)
    case nil: attribute == "xdg:content-type"
    default: false
    }
  }

  private static let fieldsOfKeePassXC: Set = [
    "Title", "UserName", "URL", "Notes", "Password", "Uuid", "Path", "TOTP",
    "FDO_SECRETS_CONTENT_TYPE",
  ]

  /// Returns `true` for an attribute in which the provider shows a secret.
  ///
  /// In KeePassXC 2.7.4 to 2.8.0, it's the seed of one-time codes in `otp`, or of another program's in `TOTP Seed`, and
  /// the key of a passkey. Version 2.7.4 shows all of them, and 2.7.10 not all.
  func keepsSecret(inAttribute name: String) -> Bool {
    program == .keepassxc
      && (["otp", "TOTP Seed", "TOTP Settings"].contains(name) || name.hasPrefix("KPEX_PASSKEY_"))
  }

  /// Returns `true` for the attributes of an item that is being removed: it was found by some, and shows none.
  ///
  /// KWallet 5.103 shows an item like that for a moment.
  static func isBeingRemoved(_ attributes: [String: String]) -> Bool { attributes.isEmpty }

  /// Returns `true` for hashed attributes.
  ///
  /// gnome-keyring 42.1 hashes them until the first unlock since login.
  static func hidesAttributes(_ attributes: [String: String]) -> Bool {
    attributes.keys.contains { $0.hasPrefix("gkr:compat:hashed:") }
  }
}
#endif
