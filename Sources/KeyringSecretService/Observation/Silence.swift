#if SecretService && os(Linux)
internal import KeyringStorage

/// What a provider changes without a signal, so that we send one of our own when we have it do so.
///
/// Other programs that do the same go unnoticed there: `secret-tool` and python's keyring do not.
struct Silence {
  /// What `SetSecret` makes; gnome-keyring (42.1) sends nothing.
  static let secretSet = "SecretSet"
  /// What setting `Attributes` makes; KWallet (5.103) sends nothing.
  static let attributesSet = "AttributesSet"

  static let nothing = Silence(member: nil)

  /// The names that tell the providers apart.
  static let names = ["org.gnome.keyring", "org.kde.kwalletd5", "org.kde.kwalletd6"]

  /// The signal of ours that stands for the missing one.
  let member: String?

  /// Whether `ItemChanged` may tell of nothing but the lock: gnome-keyring sends it then for each
  /// item, and else for what can be seen.
  var isOfLocks: Bool { member == Self.secretSet }

  private init(member: String?) { self.member = member }

  /// Finds out what a provider keeps silent about.
  ///
  /// - Parameters:
  ///   - owners: The unique names of those who own ``names``.
  ///   - provider: The provider's.
  init(of owners: [String: String], _ provider: String?) {
    member =
      switch owners.first(where: { $0.value == provider })?.key {
      case nil: nil
      case Self.names[0]: Self.secretSet
      default: Self.attributesSet
      }
  }
}

extension SecretSession {
  /// Sends the signal that the provider may owe to others for a message.
  func announce(_ message: Message) {
    guard let member = message.silentChange else { return }
    connection.broadcast(member, of: BusSignal.ownInterface, from: message.object)
  }
}

extension BusSignal {
  fileprivate static let ownInterface = "swift_keyring.Item"

  /// What changes without a signal of the provider.
  static let unheard = BusSignal(interface: ownInterface)

  static let ofCollections = BusSignal(
    sender: Message.secrets, interface: Message.collectionInterface)

  static let ofService = BusSignal(sender: Message.secrets, interface: Message.serviceInterface)
}
#endif
