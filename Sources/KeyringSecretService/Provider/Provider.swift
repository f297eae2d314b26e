// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)

/// The program that provides the Secret Service, and its differences from other providers.
///
/// A provider is recognized once per session, by another name that it owns on the bus. A daemon that the bus
/// starts for a message owns its names once it has answered one. An unknown provider gets the most careful
/// value of each flag. The flag's comment says which provider needs less care, and why.
///
/// ## Behavior without a flag
///
/// Operations allow for the following behavior, whichever provider they meet:
///
/// - Lock: KWallet 5.103 can't lock a collection that is already locked. gnome-keyring 42.1 reports success
///   for its session collection, which stays unlocked.
/// - Prompts: if another prompt is answered, KWallet 5.103 ends a prompt without showing it or unlocking
///   anything. Without a wallet, it ends the prompt with a value of another type. Dismissing a prompt aborts
///   gnome-keyring 42. KeePassXC 2.7.4 asks the user before it replaces an item of another program.
/// - Locked items: KWallet 5.103 answers with an empty secret, and deletes the item without asking for the
///   password. oo7's daemon reports no property but the lock, according to its source.
/// - Attributes: before the first unlock since login, gnome-keyring 42.1 shows neither labels nor
///   attributes, and finds nothing by schema.
/// - Searches: gnome-keyring 42.1 compares the attributes of each item until one differs. With GLib 2.74, it
///   compares the account before this package's private attribute only if the account comes first in the
///   message.
/// - Labels: gnome-keyring 42.1 crashes when a label is set while other programs replace and remove the item.
/// - Secrets: KWallet 5.103 refuses a whole group if one of its items was deleted. gnome-keyring 42 ends with
///   its connection, which an answer above 64 MiB ends. KWallet and KeePassXC corrupt bytes that are
///   declared as text if they aren't text. KWallet 5.103 also cuts them at a NUL, and removes a byte order
///   mark.
/// - Sessions: a session's key begins with a zero byte in 1 of 256 cases. KWallet 5.103 refuses to open some
///   of these sessions. In the others it computes another key: it then reports an item as missing that is
///   there, or creates an item without its secret. Opening several sessions at the same time aborts some
///   versions of gnome-keyring.
/// - Collections: gnome-keyring 42.1 still names the default collection after it was deleted. Of these
///   providers, it alone has a session collection. In version 48.0, the collection that a user's first login makes
///   is listed, and no object until the next one. Versions 42.1 and 48.0 do the same with a file that came after
///   their start, or don't list it.
/// - Signals: KWallet 5.103 sends up to four signals for one change, one right after the other.
/// - Buses: dbus-broker accepts a connection above its limit, and closes it at once. It reports the same
///   error for a name that no program provides and for a name whose program it couldn't start.
struct Provider: Sendable, Equatable {
  private enum Program: String, CaseIterable {
    case gnomeKeyring = "org.gnome.keyring"
    case kwallet5 = "org.kde.kwalletd5"
    case kwallet6 = "org.kde.kwalletd6"
    /// KWallet from version 6.14 on, whose kwalletd6 no longer provides the Secret Service.
    ///
    /// Version 6.30 takes this name before `org.freedesktop.secrets`.
    case ksecretd = "org.kde.ksecretd"
    case keepassxc = "org.keepassxc.KeePassXC.MainWindow"
  }

  /// The unique name of the provider on the bus.
  let uniqueName: String
  private let program: Program?

  /// The well-known names that identify the providers.
  static let names = Program.allCases.map(\.rawValue)

  /// Creates a provider from the names on the bus.
  ///
  /// - Parameters:
  ///   - uniqueName: The unique name of the program that owns `org.freedesktop.secrets`.
  ///   - owners: The unique names of the programs that own ``names``.
  init(_ uniqueName: String, owners: [String: String]) {
    self.uniqueName = uniqueName
    program = Program.allCases.first { owners[$0.rawValue] == uniqueName }
  }

  private var isKWallet: Bool {
    [.kwallet5, .kwallet6, .ksecretd].contains(program)
  }

  /// Whether the provider is one whose differences are known.
  var isKnown: Bool { program != nil }

  /// The name of the keyring, for messages to people.
  var keyringName: String {
    switch program {
    case .gnomeKeyring: "gnome-keyring"
    case .kwallet5, .kwallet6, .ksecretd: "KWallet"
    case .keepassxc: "KeePassXC"
    case nil: "an unknown keyring"
    }
  }

  /// Returns `true` if another provider may have the same items.
  func isSameKeyring(as other: Provider) -> Bool { keyringName == other.keyringName }
}

// MARK: - Visibility

extension Provider {
  /// Whether a search also finds the items of a locked collection.
  ///
  /// gnome-keyring 42.1 and KWallet 5.103 list them as locked. KeePassXC 2.7.4 answers as if the
  /// collection were empty, and reports each item as deleted when it locks the collection. Version 2.7.10 crashes if
  /// it's searched while it unlocks one.
  var listsLockedItems: Bool { program == .gnomeKeyring || isKWallet }

  /// Whether the provider lists every collection that exists.
  ///
  /// gnome-keyring 42.1 and KWallet 5.103 list every collection that they have on disk. KeePassXC 2.7.4
  /// lists the databases that are open, and doesn't know any others.
  var listsAllCollections: Bool { program == .gnomeKeyring || isKWallet }

  /// Whether a collection may end with the user's session although its path doesn't say so.
  ///
  /// None does in KeePassXC 2.7.4 and KWallet 5.103. gnome-keyring 42.1 has one with the name "session".
  var mayAliasSession: Bool { !isKnown }

  /// Whether an alias is also an object, which receives messages for the collection.
  ///
  /// oo7's daemon has none for its session collection.
  var hasAliasObjects: Bool { isKnown }

  /// Whether the default collection stays the same until the user chooses another one.
  ///
  /// It does in gnome-keyring 42.1 and KWallet 5.103. In KeePassXC 2.7.4 it is the database whose tab is
  /// in front.
  var keepsDefaultCollection: Bool { program == .gnomeKeyring || isKWallet }

  /// Whether a new collection has the label that was sent.
  ///
  /// gnome-keyring 42.1 keeps every label. KWallet 5.103 reads the label "X__1_" back as "X".
  var keepsCollectionLabels: Bool { program == .gnomeKeyring }

  /// Whether a collection may be a file that has the name of its label.
  ///
  /// In oo7's daemon, it is. After a restart of the daemon, the label has other capitals, and a collection with
  /// "/" in its label is gone. gnome-keyring 42.1 and KWallet 5.103 keep such labels.
  var mayNameFilesAfterLabels: Bool { !isKnown }
}

// MARK: - Listing

extension Provider {
  /// Whether a search lists the items newest first, by `Modified`, in whole seconds.
  ///
  /// gnome-keyring 42.1 does. Its time for each property is in proportion to the number of items, so it's
  /// worth an effort to examine fewer items, or fewer of their properties. In KWallet 5.103 all properties
  /// together take as long as one.
  var listsNewestFirst: Bool { program == .gnomeKeyring }

  /// Whether a search without attributes finds all items.
  ///
  /// KeePassXC 2.7.4 finds nothing.
  var findsAllWithoutAttributes: Bool { program == .gnomeKeyring }
}

// MARK: - Storing

extension Provider {
  /// Whether the provider refuses to change or to remove an item of a locked collection.
  ///
  /// gnome-keyring 42.1 refuses both. KWallet 5.103 acknowledges a write, but stores nothing.
  var refusesWritesWhileLocked: Bool { program == .gnomeKeyring }

  /// Whether a path is never given to another item while the provider runs.
  ///
  /// gnome-keyring 42.1 counts its items up.
  var keepsItemPaths: Bool { program == .gnomeKeyring }

  /// Whether a secret, a label or attributes that are set are on disk like those of a new item.
  ///
  /// If they aren't, each change creates an item. oo7's daemon only keeps them in memory.
  var storesChanges: Bool { isKnown }

  /// Whether a creation replaces, and a removal removes, no more than one item.
  ///
  /// oo7's daemon removes all items from its file that have the attributes of the removed one, and maybe more.
  var changesOneItem: Bool { isKnown }

  /// Whether a search always finds an item that is being replaced.
  ///
  /// oo7's daemon removes an item, and then creates the one that replaces it.
  var replacesAtOnce: Bool { isKnown }

  /// Whether the attributes of an item may be on disk before its secret and its label.
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

  /// Whether a secret is known to be on the disk when the provider acknowledges it.
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

  /// Whether the labels of new items end with a number.
  var numbersLabels: Bool { isKWallet }

  /// Returns the label of an item without the number that it has, if any.
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

  /// Returns `true` if the provider would create an item with this secret, but without the secret.
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

  /// Whether the provider may keep a collection in a text file that doesn't give back every secret.
  ///
  /// gnome-keyring 42.1 to 51.1 does if the collection's password is empty. ``CollectionFile`` describes the
  /// file. KWallet 5.103 and KeePassXC 2.7.4 always encrypt their files.
  var mayKeepCollectionsAsText: Bool { !isKWallet && program != .keepassxc }

  /// Whether there are attributes that the provider adds by itself.
  var addsAttributes: Bool { program == .keepassxc || program == nil }

  /// Returns `true` if the provider adds an attribute by itself, which callers neither see nor set.
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

  /// Returns `true` if the provider shows a secret in an attribute.
  ///
  /// In KeePassXC 2.7.4 to 2.8.0, it's the seed of one-time codes in `otp`, or of another program's in `TOTP Seed`, and
  /// the key of a passkey. Version 2.7.4 shows all of them, and 2.7.10 not all.
  func keepsSecret(inAttribute name: String) -> Bool {
    program == .keepassxc
      && (["otp", "TOTP Seed", "TOTP Settings"].contains(name) || name.hasPrefix("KPEX_PASSKEY_"))
  }

  /// Returns `true` if an item that was found by its attributes shows none, because it's being removed.
  ///
  /// KWallet 5.103 shows an item like that for a moment.
  static func isBeingRemoved(_ attributes: [String: String]) -> Bool { attributes.isEmpty }

  /// Returns `true` if attributes are hashed.
  ///
  /// gnome-keyring 42.1 hashes them until the first unlock since login.
  static func hidesAttributes(_ attributes: [String: String]) -> Bool {
    attributes.keys.contains { $0.hasPrefix("gkr:compat:hashed:") }
  }
}

// MARK: - Errors

extension Provider {
  /// The D-Bus names of the errors for an object that doesn't exist.
  ///
  /// The first name is from the specification. gnome-keyring 42 reports `UnknownMethod` for a deleted item or
  /// collection, and KeePassXC 2.7.4 reports `UnknownInterface`.
  static let errorsOfMissingObjects: Set = [
    "org.freedesktop.Secret.Error.NoSuchObject",
    "org.freedesktop.DBus.Error.UnknownObject",
    "org.freedesktop.DBus.Error.UnknownMethod",
    "org.freedesktop.DBus.Error.UnknownInterface",
  ]

  /// The D-Bus name of the error of a program that stays on the bus, and no longer provides the service.
  ///
  /// KeePassXC removes its objects if the user turns off its integration, according to its source.
  static let errorOfEndedService = "org.freedesktop.DBus.Error.UnknownObject"

  /// The D-Bus name of the error for a locked object, from the specification.
  static let errorOfLockedObject = "org.freedesktop.Secret.Error.IsLocked"

  /// The D-Bus name of the error for a secret that the provider can't decrypt with its session's key.
  ///
  /// KWallet 5.103 computes another key than libsecret for about one session in 256: one whose key begins
  /// with a zero byte.
  static let errorOfUnusableSession = "org.qtproject.QtDBus.Error.InvalidObjectPath"

  /// The D-Bus names of the errors with which providers refuse to read any secret, because of one item.
  ///
  /// KWallet 5.103 reports an invalid argument for a deleted item. KeePassXC 2.7.4 locks items for
  /// each program separately.
  static let refusalsToReadSecrets = errorsOfMissingObjects.union([
    errorOfLockedObject, "org.freedesktop.DBus.Error.InvalidArgs",
  ])
}

// MARK: - Prompts

extension Provider {
  /// Whether every prompt that is shown ends with the signal `Completed`.
  ///
  /// If a password is wrong, oo7's daemon ends a prompt in a terminal without the signal.
  var completesPrompts: Bool { isKnown }

  /// Whether `Unlock` can unlock a collection without a prompt, and otherwise shows nothing yet.
  ///
  /// gnome-keyring 42.1, 48.0 and 51.1 unlock a collection without a password, and one whose password is in
  /// the login collection. Otherwise they prepare a prompt, which takes 2 kB until the connection ends. KWallet
  /// 5.103 and KeePassXC 2.7.4 always prepare a prompt, and show it only when they're told to.
  var unlocksWithoutPrompt: Bool { program == .gnomeKeyring }

  /// Whether each creation of an item requires a prompt.
  ///
  /// KeePassXC 2.7.4 always answers with one. If there is nothing to ask, it ends the prompt by itself.
  var createsItemsByPrompt: Bool { program == .keepassxc }

  /// The bus name of the program that shows the provider's prompts, or `nil` if the provider shows them.
  ///
  /// gnome-keyring 42.1 dismisses its prompts itself if that program is missing or has died.
  var prompter: String? {
    program == .gnomeKeyring ? "org.gnome.keyring.SystemPrompter" : nil
  }

  /// The recovery suggestion if the keyring is allowed to ask, but no program shows its prompts.
  static let withoutPrompter = "Unlock it" + withoutWindow

  /// The recovery suggestion if no program shows the keyring's prompts, and there is nothing to unlock.
  static let withoutPrompterOrDefault = "Create one" + withoutWindow

  /// The ways to unlock or create a collection without a window.
  ///
  /// gcr shows the prompts of gnome-keyring 42.1. KWallet 5.103 and KeePassXC 2.7.4 show their own.
  private static let withoutWindow = """
     with keyring-tool unlock at a terminal, with keyring-tool unlock --password-stdin elsewhere, or by logging out \
    and in again. On a desktop, install gcr, which shows the keyring's prompts.
    """
}

// MARK: - Passwords

extension Provider {
  /// The interface with methods that take the password of a collection from a program.
  ///
  /// gnome-keyring 42.1 to 51.1 has it for its own tools, and oo7's daemon for these, too. KWallet 5.103 to 6.30 and
  /// KeePassXC 2.7.4 to 2.8.0 have none.
  static let passwordInterface = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"

  /// The D-Bus name of the error for a wrong password, or `nil` if every error may mean one.
  ///
  /// gnome-keyring 42.1 to 51.1 has such an error. oo7's daemon has one for all failures, according to its source.
  var errorOfWrongPassword: String? { isKnown ? "org.gnome.keyring.Error.Denied" : nil }

  /// The message if the provider takes no password from a program.
  var messageWithoutPasswords: String {
    isKnown
      ? "\(keyringName) takes no password from other programs, and asks only in its own window."
      : "The keyring takes no password from other programs."
  }

  /// The recovery suggestion that goes with ``messageWithoutPasswords``.
  static let suggestionWithoutPasswords = """
    Unlock it at the screen, or use an encrypted file in remote shells and containers.
    """
}

// MARK: - Starting

extension Provider {
  /// Whether the provider has its collections, and opens sessions, once it owns its name.
  ///
  /// oo7's daemon has none in the first 27 to 400 milliseconds, and never answers who opens a session then.
  var isReadyOnceStarted: Bool { isKnown }

  /// The names by which the bus may start a provider that can't be started as `org.freedesktop.secrets`.
  ///
  /// ksecretd 6.30 is started by this name. It owns `org.freedesktop.secrets`, too, as soon as it owns this one.
  static let otherStartableNames = ["org.kde.secretservicecompat"]

  /// The message if the bus can start a provider by one of ``otherStartableNames``, and none runs afterwards.
  static let messageOfUnstartableProvider = "KWallet is installed, but doesn't run."

  /// The recovery suggestion that goes with ``messageOfUnstartableProvider``.
  static let suggestionForUnstartableProvider = """
    Turn on KWallet in the settings of the desktop, or start ksecretd by hand, and read its output.
    """

  /// The message and the recovery suggestion for a failure to open a session, or `nil` if the cause says enough.
  ///
  /// KWallet 5.103 to 6.30 can't compute keys without a plugin, of which it only recommends the installation.
  static func plugin(missingIn cause: String) -> (message: String, recoverySuggestion: String)? {
    guard cause.contains("libqca-ossl") else { return nil }
    return (
      "KWallet has no plugin for encryption.",
      """
      Install libqca-qt6-plugins, or libqca-qt5-2-plugins for KWallet 5, and end KWallet: the next program \
      starts it again.
      """
    )
  }

  /// Returns the installed providers, by the names for which the bus can start a program.
  ///
  /// KeePassXC 2.7.4 isn't started by the bus.
  static func installed(_ startableNames: Set<String>) -> [String] {
    let isKWallet = ([Program.kwallet5, .kwallet6].map(\.rawValue) + otherStartableNames)
      .contains(where: startableNames.contains)
    return (startableNames.contains(Program.gnomeKeyring.rawValue) ? ["gnome-keyring"] : [])
      + (isKWallet ? ["KWallet"] : [])
  }
}

// MARK: - Diagnosis

extension Provider {
  /// The start of an installed file, and the text in it before the version of the provider.
  ///
  /// KeePassXC 2.7.4, 2.7.10 and 2.8.0 come with such a file, which begins with the newest version. It belongs
  /// to the program in `/usr/bin`. gnome-keyring 48.0 and 51.1 give their version only to who runs the program.
  var versionFile: (path: String, mark: String)? {
    program == .keepassxc
      ? ("/usr/share/metainfo/org.keepassxc.KeePassXC.appdata.xml", "<release version=\"") : nil
  }

  /// Whether each collection has a file that ``CollectionFile`` describes.
  ///
  /// gnome-keyring 42.1 and 48.0 list no collection for a file that they can't read.
  var keepsCollectionsInFiles: Bool { program == .gnomeKeyring }

  /// The property that has the version of a provider that is a Qt program.
  ///
  /// KWallet 5.103 has it. KeePassXC 2.7.4 is a Qt program too, and doesn't answer.
  static let version = (
    name: "applicationVersion", object: "/MainApplication",
    interface: "org.qtproject.Qt.QCoreApplication"
  )
}

// MARK: - Signals

extension Provider {
  /// A change that a provider makes without a signal, so that this package sends signals of its own.
  ///
  /// If another program makes such a change, it isn't noticed. `secret-tool` and Python's keyring make no
  /// such changes.
  enum SilentChange: String, CaseIterable {
    /// The interface of the signals, whose names are a change and a step.
    static let interface = "swift_keyring.Item"

    /// A call of `SetSecret`, for which gnome-keyring 42.1 to 51.1 sends no signal.
    case secret = "Secret"
    /// A change of `Attributes`, for which KWallet 5.103 to 6.30 sends no signal.
    case attributes = "Attributes"

    /// A step of a change, after which its program sends a signal.
    enum Step: String, CaseIterable {
      /// The change is sent next.
      case changing = "Changing"
      /// The change was made, or may have been.
      case set = "Set"
      /// The change was refused.
      case kept = "Kept"
    }

    /// Returns the name of the signal for a step.
    func signal(_ step: Step) -> String { rawValue + step.rawValue }

    /// Returns what a signal says, or `nil` if it has no known name.
    static func of(_ signal: String) -> (change: Self, step: Step)? {
      for change in allCases {
        for step in Step.allCases where change.signal(step) == signal { return (change, step) }
      }
      return nil
    }
  }

  /// The change that the provider makes without a signal.
  var silentChange: SilentChange? {
    if program == .gnomeKeyring { return .secret }
    return isKWallet ? .attributes : nil
  }

  /// Whether another program can change an item without a signal.
  ///
  /// KeePassXC 2.7.4 to 2.8.0 sends a signal for every change.
  var changesSilently: Bool { program != .keepassxc }

  /// Whether `ItemChanged` may report nothing but a change of the lock.
  ///
  /// gnome-keyring 42.1 and oo7's daemon send it for each item of a collection that is locked or unlocked.
  var signalsLocksAsChanges: Bool { !isKWallet && program != .keepassxc }
}
#endif
