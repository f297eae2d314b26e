#if SecretService && os(Linux)
extension SecretServiceStorage {
  /// Which collection (what other systems call a keychain) the items are in.
  public enum Collection: Sendable, Hashable {
    /// The one the user's keyring has made its default; kept on disk, and as a rule unlocked by
    /// logging in. Where there is none, saving asks the user to make one.
    case `default`
    /// The one that is forgotten at log-out; of the common keyrings only gnome-keyring has it.
    case session
    /// The one with this label.
    case named(String)
  }

  /// Whether the keyring may put a question in front of the user.
  public enum Interaction: Sendable, Hashable {
    /// The keyring may ask for a password or a confirmation, and the call waits for the answer.
    case allowed
    /// What cannot be done without asking throws `.locked`.
    case never
  }

  /// Where the items are, whether the user may be asked, and how long to wait.
  public struct Options: Sendable, Hashable {
    /// Where the items are.
    public var collection: Collection

    /// Whether the keyring may ask the user.
    public var interaction: Interaction

    /// The time that an operation waits for the keyring's answers.
    ///
    /// An operation that sends more than 64 messages at once has this long for each 64 of them, so that it
    /// isn't the number of items that ends it. 25 s by default, as D-Bus calls have it.
    public var serviceTimeout: Duration

    /// How long a prompt may wait for the user, on top of the time for the keyring's answers.
    ///
    /// 5 minutes by default.
    public var promptTimeout: Duration

    /// The address of the message bus, as in the [D-Bus specification]; `nil` for the session bus.
    ///
    /// [D-Bus specification]: https://dbus.freedesktop.org/doc/dbus-specification.html#addresses
    public var busAddress: String?

    /// How long another operation may keep this one waiting: as long as it may take itself.
    var longestOperation: Duration {
      interaction == .allowed ? serviceTimeout + promptTimeout : serviceTimeout
    }

    /// Makes options.
    ///
    /// - Parameters:
    ///   - collection: Where the items are.
    ///   - interaction: Whether the keyring may ask the user.
    ///   - serviceTimeout: How long an operation may wait for the keyring's answers.
    ///   - promptTimeout: How long a prompt may wait for the user.
    ///   - busAddress: The address of the message bus; `nil` for the session bus.
    public init(
      collection: Collection = .default,
      interaction: Interaction = .allowed,
      serviceTimeout: Duration = .seconds(25),
      promptTimeout: Duration = .seconds(300),
      busAddress: String? = nil
    ) {
      self.collection = collection
      self.interaction = interaction
      self.serviceTimeout = serviceTimeout
      self.promptTimeout = promptTimeout
      self.busAddress = busAddress
    }
  }
}
#endif
