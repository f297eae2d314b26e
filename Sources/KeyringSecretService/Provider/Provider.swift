#if SecretService && os(Linux)

/// The program that provides the Secret Service, and all that it does differently from others.
///
/// It is recognized once per session, by another name that it owns on the bus. An unknown provider gets
/// the most careful value of each flag. The flag's comment says which provider needs less care, and why.
struct Provider: Sendable, Equatable {
  private enum Program: String, CaseIterable {
    case gnomeKeyring = "org.gnome.keyring"
    case kwallet5 = "org.kde.kwalletd5"
    case kwallet6 = "org.kde.kwalletd6"
    case keepassxc = "org.keepassxc.KeePassXC.MainWindow"
  }

  /// The unique name that the provider has on the bus.
  let uniqueName: String
  private let program: Program?

  /// The well-known names that tell the providers apart.
  static let names = Program.allCases.map(\.rawValue)

  /// Recognizes a provider.
  ///
  /// - Parameters:
  ///   - uniqueName: The unique name of the program that owns `org.freedesktop.secrets`.
  ///   - owners: The unique names of the programs that own ``names``.
  init(_ uniqueName: String, owners: [String: String]) {
    self.uniqueName = uniqueName
    program = Program.allCases.first { owners[$0.rawValue] == uniqueName }
  }

  private var isKWallet: Bool { program == .kwallet5 || program == .kwallet6 }
}

// MARK: - What it hides

extension Provider {
  /// Whether a search also finds the items of a locked collection.
  ///
  /// gnome-keyring 42.1 and KWallet 5.103 list them as locked. KeePassXC 2.7.4 answers as if the
  /// collection were empty.
  var listsLockedItems: Bool { program == .gnomeKeyring || isKWallet }

  /// Whether the provider lists every collection that exists.
  ///
  /// gnome-keyring 42.1 and KWallet 5.103 list every collection that they have on disk. KeePassXC 2.7.4
  /// lists the databases that are open, and knows of no others.
  var listsAllCollections: Bool { program == .gnomeKeyring || isKWallet }

  /// Whether the default collection stays the same until the user chooses another one.
  ///
  /// It does in gnome-keyring 42.1 and KWallet 5.103. In KeePassXC 2.7.4 it is the database whose tab is
  /// in front.
  var keepsDefaultCollection: Bool { program == .gnomeKeyring || isKWallet }
}

// MARK: - How it lists

extension Provider {
  /// Whether a search lists the items newest first, by `Modified`, in whole seconds.
  ///
  /// gnome-keyring 42.1 does. There each property takes time in proportion to the number of items, so that
  /// looking at fewer items, or at fewer of their properties, is worth an effort. In KWallet 5.103 all
  /// properties together take as long as one.
  var listsNewestFirst: Bool { program == .gnomeKeyring }

  /// Whether a search without attributes finds all items.
  ///
  /// KeePassXC 2.7.4 answers it with nothing.
  var findsAllWithoutAttributes: Bool { program == .gnomeKeyring }
}

// MARK: - What it does not keep

extension Provider {
  /// Whether a write to a locked collection is refused.
  ///
  /// gnome-keyring 42.1 refuses it. KWallet 5.103 acknowledges it, and stores nothing.
  var refusesWritesWhileLocked: Bool { program == .gnomeKeyring }

  /// Whether a path is never given to another item while the provider runs.
  ///
  /// gnome-keyring 42.1 counts its items up.
  var keepsItemPaths: Bool { program == .gnomeKeyring }

  /// How long after its acknowledgment a secret may not be on disk yet, while the attributes are.
  ///
  /// KWallet 5.103 writes secrets up to five seconds late; its times are in whole seconds. gnome-keyring
  /// 42.1 has written both when it acknowledges an item. KeePassXC 2.7.4 writes both later, at once.
  var secretDelay: Duration {
    program == .gnomeKeyring || program == .keepassxc ? .zero : .seconds(7)
  }

  /// The names of the attributes that the provider adds to each item; callers can't use them.
  ///
  /// KeePassXC 2.7.4 lists an entry's own fields as attributes.
  var reservedAttributes: Set<String> { program == .keepassxc ? Self.keepassxcAttributes : [] }

  /// Removes the attributes that a provider has added to an item.
  static func removeAdditions(from attributes: [String: String]) -> [String: String] {
    guard attributes["Uuid"] != nil, attributes["Path"] != nil else { return attributes }
    return attributes.filter { !keepassxcAttributes.contains($0.key) }
  }

  private static let keepassxcAttributes: Set = [
    "Title", "UserName", "URL", "Notes", "Password", "Uuid", "Path",
  ]

  /// Tells whether an item that was found by its attributes is being removed, so that it shows none.
  ///
  /// KWallet 5.103 shows it like that for a moment.
  static func isBeingRemoved(_ attributes: [String: String]) -> Bool { attributes.isEmpty }

  /// Tells whether attributes are hashed, as gnome-keyring 42.1 does until the first unlock since log-in.
  static func hidesAttributes(_ attributes: [String: String]) -> Bool {
    attributes.keys.contains { $0.hasPrefix("gkr:compat:hashed:") }
  }
}

// MARK: - What it says

extension Provider {
  /// The D-Bus names of the errors by which providers say that an object doesn't exist (any more).
  ///
  /// The first is the specification's. gnome-keyring 42 says `UnknownMethod` of an item or a collection
  /// that is gone, and KeePassXC 2.7.4 `UnknownInterface`.
  static let errorsOfMissingObjects: Set = [
    "org.freedesktop.Secret.Error.NoSuchObject",
    "org.freedesktop.DBus.Error.UnknownObject",
    "org.freedesktop.DBus.Error.UnknownMethod",
    "org.freedesktop.DBus.Error.UnknownInterface",
  ]

  /// The D-Bus name of the error by which a provider says that it can't decrypt a session's secrets.
  ///
  /// KWallet 5.103 computes another key than libsecret for about one session in 200.
  static let errorOfUnusableSession = "org.qtproject.QtDBus.Error.InvalidObjectPath"

  /// The D-Bus names of the errors by which providers read no secret at all because of one item.
  ///
  /// KWallet 5.103 calls an item that is gone an invalid argument. KeePassXC 2.7.4 locks items for each
  /// program by itself.
  static let refusalsToReadSecrets = errorsOfMissingObjects.union([
    BusFailure.locked, "org.freedesktop.DBus.Error.InvalidArgs",
  ])
}

// MARK: - What it asks

extension Provider {
  /// Whether every creation of an item takes a prompt.
  ///
  /// KeePassXC 2.7.4 always answers with one. It ends it by itself where there is nothing to ask.
  var createsItemsByPrompt: Bool { program == .keepassxc }

  /// The name on the bus of the program that shows the provider's prompts; `nil` if it is the provider.
  ///
  /// gnome-keyring 42.1 dismisses its prompts itself where that program is missing or has died.
  var prompter: String? {
    program == .gnomeKeyring ? "org.gnome.keyring.SystemPrompter" : nil
  }
}

// MARK: - What it does not tell

extension Provider {
  /// A change that a provider makes without a signal, so that this package sends one of its own.
  ///
  /// A change of that kind by another program goes unnoticed: `secret-tool` and python's keyring don't
  /// make any.
  enum SilentChange: String {
    /// `SetSecret`; gnome-keyring 42.1 sends nothing.
    case secret = "SecretSet"
    /// Setting `Attributes`; KWallet 5.103 sends nothing.
    case attributes = "AttributesSet"
  }

  /// What the provider changes without a signal.
  var silentChange: SilentChange? {
    if program == .gnomeKeyring { return .secret }
    return isKWallet ? .attributes : nil
  }

  /// Whether `ItemChanged` may tell of nothing but the lock.
  ///
  /// gnome-keyring 42.1 sends it for each item of a collection that is locked or unlocked.
  var signalsLocksAsChanges: Bool { program == .gnomeKeyring }
}
#endif
