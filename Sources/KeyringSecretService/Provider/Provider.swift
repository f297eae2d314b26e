// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)

/// The program that provides the Secret Service, and its differences from other providers.
///
/// A provider is recognized once per session, by another name that it owns on the bus. A daemon that the bus
/// starts for a message owns its names once it has answered one. An unknown provider gets the most careful
/// value of each flag. The flag's comment says what a provider does for which it's `true`, which provider needs
/// less care, and why.
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
  enum Program: String, CaseIterable {
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
  let program: Program?

  /// The well-known names that identify the providers.
  static let names = Program.allCases.map(\.rawValue)

  /// Creates a provider from the names on the bus.
  ///
  /// - Parameters:
  ///   - uniqueName: The unique name of the program that owns `org.freedesktop.secrets`.
  ///   - owners: The unique names of the programs that own ``names``, in their order.
  init(_ uniqueName: String, owners: [String?]) {
    self.uniqueName = uniqueName
    program = zip(Program.allCases, owners).first { $1 == uniqueName }?.0
  }

  var isKWallet: Bool {
    [.kwallet5, .kwallet6, .ksecretd].contains(program)
  }

  /// `true` for a provider whose differences are known.
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

  /// Returns `true` for a provider that may have the same items.
  func isSameKeyring(as other: Provider) -> Bool { keyringName == other.keyringName }
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

// MARK: - Starting

extension Provider {
  /// Has its collections, and opens sessions, as soon as it owns its name.
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

  /// The message and the recovery suggestion for a failure to open a session, or `nil` for a cause that says enough.
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

  /// Keeps each collection in a file that ``CollectionFile`` describes.
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
#endif
