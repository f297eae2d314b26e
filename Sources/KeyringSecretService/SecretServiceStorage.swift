// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
/// A storage in the user's keyring, which uses the freedesktop [Secret
/// Service](https://specifications.freedesktop.org/secret-service-spec/latest/) through libsecret.
///
/// Only secrets are encrypted, and not the labels and attributes of items. All storages of a process share
/// one connection, and any number of threads can use them.
///
/// ```swift
/// let storage = SecretServiceStorage(collection: .session, interaction: .never)
/// ```
public struct SecretServiceStorage: Sendable {
  /// The options of the storage.
  public let options: Options

  /// Creates a storage with options.
  ///
  /// ```swift
  /// var options = SecretServiceStorage.Options(interaction: .never)
  /// options.serviceTimeout = .seconds(5)
  /// let storage = SecretServiceStorage(options: options)
  /// ```
  ///
  /// Nothing is sent until you use the storage.
  ///
  /// - Parameter options: The options of the storage.
  public init(options: Options) {
    self.options = options
  }

  /// Creates a storage for a collection.
  ///
  /// Nothing is sent until you use the storage.
  ///
  /// - Parameters:
  ///   - collection: The collection that contains the items.
  ///   - interaction: The permission of the keyring to ask the user.
  public init(collection: Collection = .default, interaction: Interaction = .allowed) {
    self.init(options: Options(collection: collection, interaction: interaction))
  }
}

extension SecretServiceStorage {
  /// A collection of items, which other systems call a keychain.
  ///
  /// ```swift
  /// let work = SecretServiceStorage(collection: .named("Work"))
  /// ```
  public enum Collection: Sendable, Hashable {
    /// The default collection of the user's keyring.
    ///
    /// It's kept on disk and usually unlocked by logging in. If there is none, saving asks the user to
    /// create one.
    case `default`
    /// The collection that is discarded at logout, which some keyrings lack.
    case session
    /// The collection with this label.
    case named(String)

    /// The name that the Secret Service has for the collection, regardless of its label.
    var alias: String? {
      switch self {
      case .default: "default"
      case .session: "session"
      case .named: nil
      }
    }
  }

  /// The permission of the keyring to ask the user.
  ///
  /// ```swift
  /// let storage = SecretServiceStorage(interaction: .terminal)
  /// try storage.unlock()
  /// ```
  public enum Interaction: Sendable, Hashable {
    /// Permission to ask for a password or a confirmation; the call waits for the answer.
    case allowed
    /// Permission for this program to ask for the collection's password itself, at its terminal.
    ///
    /// It's for a program in the foreground of a terminal, such as a remote shell. Elsewhere, and with a keyring that
    /// takes no password from a program, an operation that needs the password throws `.locked`.
    case terminal
    /// No permission; an operation that needs an answer from the user throws `.locked`.
    ///
    /// A collection that the keyring opens without a question, such as one without a password, is opened.
    case never
  }

  /// The options of a storage: its collection, the permission to ask the user, and how long to wait.
  ///
  /// ```swift
  /// var options = SecretServiceStorage.Options(collection: .session)
  /// options.promptTimeout = .seconds(60)
  /// ```
  public struct Options: Sendable, Hashable {
    /// The collection that contains the items.
    public var collection: Collection

    /// The permission of the keyring to ask the user.
    public var interaction: Interaction

    /// The time that an operation waits for the keyring's answers.
    ///
    /// An operation that sends more than 64 messages at once has this much time for each 64 of them, so a
    /// large number of items doesn't make it time out. The default is 25 seconds, as for D-Bus calls.
    public var serviceTimeout: Duration

    /// The time that a prompt may wait for the user, in addition to the time for the keyring's answers.
    ///
    /// The default is 5 minutes.
    public var promptTimeout: Duration

    /// The address of the message bus, as in the [D-Bus specification], or `nil` for the session bus.
    ///
    /// ```swift
    /// var options = SecretServiceStorage.Options()
    /// options.busAddress = "unix:path=/run/user/1000/bus"
    /// ```
    ///
    /// An address of the kind `tcp:` is refused with `.notEncrypted`, because D-Bus doesn't encrypt it.
    ///
    /// [D-Bus specification]: https://dbus.freedesktop.org/doc/dbus-specification.html#addresses
    public var busAddress: String?

    /// Whether secrets may be sent over the bus without encryption, by default `false`.
    ///
    /// All common keyrings encrypt them. Allow it only if no other program can listen on the bus.
    public var allowsUnencryptedSession: Bool

    /// The name under which programs take turns to change an item, as one that they may own on the bus, or `nil`.
    ///
    /// Programs that share items have to use the same one. The default is that of all programs, or in a Flatpak the
    /// identifier of the app, because its sandbox allows no other. A program outside of the sandbox joins it:
    ///
    /// ```swift
    /// var options = SecretServiceStorage.Options()
    /// options.turnNamespace = "org.example.App"
    /// ```
    public var turnNamespace: String?

    /// The maximum time that an operation waits for another one, which is as long as it may take itself.
    var longestOperation: Duration {
      interaction == .never ? serviceTimeout : serviceTimeout + promptTimeout
    }

    /// Creates options.
    ///
    /// - Parameters:
    ///   - collection: The collection that contains the items.
    ///   - interaction: The permission of the keyring to ask the user.
    ///   - serviceTimeout: The time that an operation waits for the keyring's answers.
    ///   - promptTimeout: The time that a prompt may wait for the user.
    ///   - busAddress: The address of the message bus, or `nil` for the session bus.
    ///   - allowsUnencryptedSession: Whether secrets may be sent over the bus without encryption.
    ///   - turnNamespace: The name under which programs take turns to change an item, or `nil` for the usual one.
    public init(
      collection: Collection = .default,
      interaction: Interaction = .allowed,
      serviceTimeout: Duration = .seconds(25),
      promptTimeout: Duration = .seconds(300),
      busAddress: String? = nil,
      allowsUnencryptedSession: Bool = false,
      turnNamespace: String? = nil
    ) {
      self.collection = collection
      self.interaction = interaction
      self.serviceTimeout = serviceTimeout
      self.promptTimeout = promptTimeout
      self.busAddress = busAddress
      self.allowsUnencryptedSession = allowsUnencryptedSession
      self.turnNamespace = turnNamespace
    }
  }
}
#endif
