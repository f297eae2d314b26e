extension SecureStorageError {
  /// What kind of thing went wrong.
  ///
  /// Storages of other makers may add codes of their own.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the code.
    public let rawValue: String

    /// Makes a code.
    ///
    /// - Parameter rawValue: The name of the code.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The name of the code.
    public var description: String { rawValue }

    /// An item to be updated is not there.
    public static let itemNotFound = Code(rawValue: "itemNotFound")
    /// An item to be added is there already.
    public static let itemAlreadyExists = Code(rawValue: "itemAlreadyExists")
    /// The storage is locked, and asking the user is not allowed or not possible.
    public static let locked = Code(rawValue: "locked")
    /// The user was asked and declined.
    public static let userCanceled = Code(rawValue: "userCanceled")
    /// There is no D-Bus session to find a keyring on.
    public static let noSessionBus = Code(rawValue: "noSessionBus")
    /// There is a D-Bus session, but nobody on it keeps secrets.
    public static let noProvider = Code(rawValue: "noProvider")
    /// A keyring is installed, and could not be started.
    public static let providerFailed = Code(rawValue: "providerFailed")
    /// The keyring has no default collection to store new items in.
    public static let noDefaultCollection = Code(rawValue: "noDefaultCollection")
    /// The keyring has no collection of the kind or name asked for.
    public static let collectionNotFound = Code(rawValue: "collectionNotFound")
    /// The keyring has a collection of that name already.
    public static let collectionAlreadyExists = Code(rawValue: "collectionAlreadyExists")
    /// A sandbox, a policy or the permissions of a file forbid it.
    public static let accessDenied = Code(rawValue: "accessDenied")
    /// The deadline passed.
    public static let timedOut = Code(rawValue: "timedOut")
    /// The task that asked was cancelled.
    public static let canceled = Code(rawValue: "canceled")
    /// The connection to the keyring was lost, and a second try did not help.
    public static let connectionLost = Code(rawValue: "connectionLost")
    /// Several items of other programs match, and none of this package's.
    public static let ambiguous = Code(rawValue: "ambiguous")
    /// An argument was refused before anything was stored or sent.
    public static let invalidArgument = Code(rawValue: "invalidArgument")
    /// What is stored is not what was asked for: not UTF-8, not that type.
    public static let undecodable = Code(rawValue: "undecodable")
    /// What the secrets are encrypted with is not what was given: another passphrase, another key.
    public static let wrongKey = Code(rawValue: "wrongKey")
    /// The key that the secrets are encrypted with is not where it should be.
    public static let keyNotFound = Code(rawValue: "keyNotFound")
    /// What the storage keeps its items in is not as it was written.
    public static let damaged = Code(rawValue: "damaged")
    /// What was stored does not read back.
    public static let verificationFailed = Code(rawValue: "verificationFailed")
    /// What was migrated was changed before it could be removed from the source.
    public static let sourceChanged = Code(rawValue: "sourceChanged")
    /// The storage can be read, and not be written.
    public static let readOnly = Code(rawValue: "readOnly")
    /// No storage was chosen, and there is none to fall back on.
    public static let noStorage = Code(rawValue: "noStorage")
    /// The storage that the program's secrets are in is not there.
    public static let chosenStorageMissing = Code(rawValue: "chosenStorageMissing")
    /// The storage cannot tell when its items change.
    public static let notObservable = Code(rawValue: "notObservable")
    /// Anything else; look at the underlying error.
    public static let backend = Code(rawValue: "backend")
  }
}

extension SecureStorageError.Code {
  var meaning: String { Self.texts[self]?.meaning ?? "The storage reported an error." }
  var advice: String { Self.texts[self]?.advice ?? "The underlying error says more." }

  private static let texts: [Self: (meaning: String, advice: String)] = [
    .itemNotFound: (
      "There is no such item.", "Add it first, or save it with addOrReplace."
    ),
    .itemAlreadyExists: (
      "There is such an item already.", "Update it, or save it with addOrReplace."
    ),
    .locked: (
      "The keyring is locked.",
      "Unlock it in your keyring manager or by logging in, or allow this program to ask."
    ),
    .userCanceled: (
      "The keyring asked to be unlocked or to confirm, and was declined.",
      "Try again and answer the question."
    ),
    .noSessionBus: (
      "There is no D-Bus session bus.",
      "Run inside a desktop or login session, or start one with dbus-run-session."
    ),
    .noProvider: (
      "No program on the session bus provides a keyring.",
      "Install and start one: gnome-keyring, KWallet or KeePassXC."
    ),
    .providerFailed: (
      "A keyring is installed, and the session bus could not start it.",
      "Start it by hand, as with gnome-keyring-daemon --foreground, and see what it says."
    ),
    .noDefaultCollection: (
      "The keyring has no default collection.",
      "Create one in your keyring manager and make it the default, or allow this program to ask."
    ),
    .collectionNotFound: (
      "The keyring has no such collection.",
      "Create it in your keyring manager, or choose another collection."
    ),
    .collectionAlreadyExists: (
      "The keyring has such a collection already.", "Use it, or choose another label."
    ),
    .accessDenied: (
      "Access to the keyring was denied.",
      "Grant the sandbox or policy access to org.freedesktop.secrets."
    ),
    .timedOut: (
      "The keyring did not answer in time.", "Check that it is not hanging, and try again."
    ),
    .canceled: ("The call was cancelled.", "Call again if the result is still wanted."),
    .connectionLost: (
      "The connection to the keyring was lost.",
      "Check that the keyring is running, and try again; reads show whether a write took place."
    ),
    .ambiguous: (
      "Several items of other programs match.",
      "Remove the surplus ones in your keyring manager."
    ),
    .invalidArgument: ("An argument was refused.", "Correct it; nothing was stored."),
    .undecodable: (
      "The stored bytes are not of the type asked for.",
      "Read them as bytes, or store a new value."
    ),
    .wrongKey: (
      "The passphrase or key is not the one that was encrypted with.",
      "Try again with the right one; nothing was changed."
    ),
    .keyNotFound: (
      "The key is not where it should be.", "Bring it back, or the secrets cannot be read again."
    ),
    .damaged: (
      "The storage is damaged, and was left as it is.", "Restore it from a backup."
    ),
    .verificationFailed: (
      "What was stored does not read back.", "Nothing was removed; look at what is stored."
    ),
    .sourceChanged: (
      "The source was changed during the migration.",
      "Nothing was removed. Decide which value is right, remove the other, and run it again."
    ),
    .notObservable: (
      "The storage cannot tell when its items change.",
      "Read again when the value is needed, or choose an ObservableStorage."
    ),
    .readOnly: (
      "The storage can be read, and not be written.",
      "Change the secret where the program is given it, or keep it in another storage."
    ),
    .chosenStorageMissing: (
      "The storage that the secrets are in is not there.",
      "Bring it back, or make another choice."
    ),
    .noStorage: (
      "No storage was chosen.", "Set SecureStorageDefaults.storage when the program starts."
    ),
  ]
}
