// SPDX-License-Identifier: Apache-2.0

extension SecureStorageError {
  /// The kind of an error.
  ///
  /// Third-party storages can add their own codes.
  ///
  /// ```swift
  /// extension SecureStorageError.Code { static let quotaExceeded = Self(rawValue: "quotaExceeded") }
  /// ```
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the code.
    public let rawValue: String

    /// Creates a code.
    ///
    /// - Parameter rawValue: The name of the code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of the code.
    public var description: String { rawValue }

    /// The item to update doesn't exist.
    public static let itemNotFound = Code(rawValue: "itemNotFound")
    /// The item to add already exists.
    public static let itemAlreadyExists = Code(rawValue: "itemAlreadyExists")
    /// The storage is locked, and prompting the user is either not allowed or not possible.
    public static let locked = Code(rawValue: "locked")
    /// The user declined a prompt.
    public static let userCanceled = Code(rawValue: "userCanceled")
    /// There is no D-Bus session on which to find a keyring.
    public static let noSessionBus = Code(rawValue: "noSessionBus")
    /// There is a D-Bus session, but no program on it provides a keyring.
    public static let noProvider = Code(rawValue: "noProvider")
    /// A keyring is installed, but it couldn't be started.
    public static let providerFailed = Code(rawValue: "providerFailed")
    /// The keyring has no default collection for new items.
    public static let noDefaultCollection = Code(rawValue: "noDefaultCollection")
    /// The keyring has no collection of the requested kind or name.
    public static let collectionNotFound = Code(rawValue: "collectionNotFound")
    /// The keyring already has a collection with that name.
    public static let collectionAlreadyExists = Code(rawValue: "collectionAlreadyExists")
    /// A sandbox, a policy, or the permissions of a file deny access.
    public static let accessDenied = Code(rawValue: "accessDenied")
    /// Secrets would be sent without encryption, and the program doesn't allow that.
    public static let notEncrypted = Code(rawValue: "notEncrypted")
    /// The deadline passed.
    public static let timedOut = Code(rawValue: "timedOut")
    /// The task that made the request was cancelled.
    public static let canceled = Code(rawValue: "canceled")
    /// The connection to the keyring was lost, and a second attempt didn't help.
    public static let connectionLost = Code(rawValue: "connectionLost")
    /// Several items of other programs match, but none of this package's items does, or a migration finds a name
    /// several times.
    public static let ambiguous = Code(rawValue: "ambiguous")
    /// An argument was refused before anything was stored or sent.
    public static let invalidArgument = Code(rawValue: "invalidArgument")
    /// The stored bytes aren't what you asked for: they aren't UTF-8, or not of the requested type.
    public static let undecodable = Code(rawValue: "undecodable")
    /// The secrets are encrypted with a different passphrase or key than the one provided.
    public static let wrongKey = Code(rawValue: "wrongKey")
    /// The key that encrypts the secrets can't be found.
    public static let keyNotFound = Code(rawValue: "keyNotFound")
    /// The data in which the storage keeps its items is no longer as it was written.
    public static let damaged = Code(rawValue: "damaged")
    /// The storage doesn't return what was stored in it.
    public static let verificationFailed = Code(rawValue: "verificationFailed")
    /// A migrated item changed before it could be removed from the source.
    public static let sourceChanged = Code(rawValue: "sourceChanged")
    /// The storage can be read, but not written.
    public static let readOnly = Code(rawValue: "readOnly")
    /// No storage was chosen, or the chosen one doesn't exist here.
    public static let noStorage = Code(rawValue: "noStorage")
    /// The storage that holds the program's secrets is missing.
    public static let selectedStorageMissing = Code(rawValue: "selectedStorageMissing")
    /// The turn to change an item ended before the new value was stored.
    public static let turnLost = Code(rawValue: "turnLost")
    /// The storage can't report changes of its items.
    public static let notObservable = Code(rawValue: "notObservable")
    /// A plain read or assignment blocked the main loop for more than a second.
    ///
    /// No operation throws it. Only `SecureStorageDefaults.failureHandler` gets it, also for a use that has succeeded.
    public static let mainLoopBlocked = Code(rawValue: "mainLoopBlocked")
    /// Any other error.
    ///
    /// The underlying error, if there is one, describes it.
    public static let other = Code(rawValue: "other")
  }
}

extension SecureStorageError.Code {
  var meaning: String { text?.meaning ?? "The storage reported an error." }
  var recoverySuggestion: String {
    text?.recoverySuggestion
      ?? "Look up its cause, or show the whole error to the developer of the program."
  }

  private var text: Text? { Self.texts.first { $0.code == self } }

  private typealias Text = (code: Self, meaning: String, recoverySuggestion: String)

  // An array, because the compiler makes a constant of it.
  private static let texts: [Text] = [
    (
      .itemNotFound, "The item doesn't exist.",
      "Add the item first, or save it with addOrReplace."
    ),
    (
      .itemAlreadyExists, "The item already exists.",
      "Update the item, or save it with addOrReplace."
    ),
    (
      .locked, "The keyring is locked.",
      "Unlock it in your keyring manager or by logging in, or allow this program to show prompts."
    ),
    (
      .userCanceled, "The user dismissed the keyring's prompt.",
      "Try again, and answer the prompt."
    ),
    (
      .noSessionBus, "There is no D-Bus session bus.",
      """
      Run the program in a desktop session, keep its secrets in an encrypted file, or give it a keyring of its own: \
      dbus-run-session -- sh -c 'keyring-tool unlock --password-stdin <PASSWORD-FILE && PROGRAM'.
      """
    ),
    (
      .noProvider, "No program on the session bus provides a keyring.",
      "Install gnome-keyring, which starts when it's needed, or start KWallet or KeePassXC."
    ),
    (
      .providerFailed, "A keyring is installed, but the session bus couldn't start it.",
      "Start it by hand, for example with gnome-keyring-daemon --foreground, and read its output."
    ),
    (
      .noDefaultCollection, "The keyring has no default collection.",
      "Create one in your keyring manager and make it the default, or allow this program to show prompts."
    ),
    (
      .collectionNotFound, "The keyring doesn't have this collection.",
      "Create it in your keyring manager, or choose another collection."
    ),
    (
      .collectionAlreadyExists, "The keyring already has a collection with this label.",
      "Use that collection, or choose another label."
    ),
    (
      .accessDenied, "Access to the keyring was denied.",
      "Check the policy of the bus, and the sandbox of the program."
    ),
    (
      .notEncrypted, "The keyring doesn't encrypt secrets on the session bus.",
      "Use one that does, such as gnome-keyring, KWallet or KeePassXC, or allow it in this program."
    ),
    (
      .timedOut, "The keyring didn't answer in time.",
      "Try again. If it fails again, restart the keyring."
    ),
    (.canceled, "The call was cancelled.", "Repeat the call if you still need its result."),
    (
      .connectionLost, "The connection to the keyring was lost.",
      "Start the keyring if it isn't running. Reads show whether a write took place."
    ),
    (
      .ambiguous, "Several items of other programs match.",
      "Remove all but one of them in your keyring manager."
    ),
    (.invalidArgument, "An argument is invalid.", "Correct it. Nothing was changed."),
    (
      .undecodable, "The stored value has another type.",
      "Read it as bytes, or store a new value."
    ),
    (
      .wrongKey, "The passphrase or key is wrong.",
      "Use the right one. Nothing was changed."
    ),
    (
      .keyNotFound, "The key is missing.",
      "Restore the key. Without it, the secrets can't be read."
    ),
    (
      .damaged, "The storage is damaged.",
      "Restore it from a backup. The damaged storage wasn't changed."
    ),
    (
      .verificationFailed, "The stored value could not be read back.",
      "Nothing was removed. Check the stored value."
    ),
    (
      .sourceChanged, "The source was changed during the migration.",
      "Nothing was removed. Decide which value is right, remove the other one, and try again."
    ),
    (
      .turnLost, "The turn to change the item was lost.",
      "Read the value, which others may have changed, and try again."
    ),
    (
      .notObservable, "The storage can't report changes.",
      "Read the value when you need it, or use an ObservableStorage."
    ),
    (
      .mainLoopBlocked, "It blocked the main loop.",
      "Use await there, as in try await settings.$token.read(), or read once before the loop begins."
    ),
    (
      .readOnly, "The storage is read-only.",
      "Change the secret at its source, or keep it in another storage."
    ),
    (
      .selectedStorageMissing, "The storage that holds the secrets isn't available.",
      "Restore it, or select another storage."
    ),
    (
      .noStorage, "No storage was chosen.",
      "Set SecureStorageDefaults.storage when the program starts."
    ),
  ]
}
