// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension SecretSession {
  /// Sends this package's own signal for a change that the provider doesn't signal.
  ///
  /// The method waits until the signal has left the process, because the program may end right afterwards.
  func announce(_ message: MethodCall) async {
    guard let change = message.silentChange else { return }
    connection.broadcast(change.rawValue, of: BusSignal.ownInterface, from: message.object)
    await connection.flush()
  }
}

extension BusSignal {
  fileprivate static let ownInterface = "swift_keyring.Item"

  /// The signals of this package for changes that the provider doesn't signal.
  static let unheard = BusSignal(interface: ownInterface)

  static let ofCollections = BusSignal(
    sender: MethodCall.secrets, interface: MethodCall.collectionInterface)

  static let ofService = BusSignal(
    sender: MethodCall.secrets, interface: MethodCall.serviceInterface)
}
#endif
