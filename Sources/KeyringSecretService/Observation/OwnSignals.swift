#if SecretService && os(Linux)
internal import KeyringStorage

extension SecretSession {
  /// Sends a signal of our own for a change that the provider makes without one, and waits until it has
  /// left: the program may end at once.
  func announce(_ message: Message) async {
    guard let change = message.silentChange else { return }
    connection.broadcast(change.rawValue, of: BusSignal.ownInterface, from: message.object)
    await connection.flush()
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
