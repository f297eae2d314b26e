// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import Testing

/// A provider for one test, which can be killed and started again with the same files.
protocol MortalProvider: AnyObject {
  func start() throws
  func kill() throws
}

extension GnomeKeyring: MortalProvider {
  func start() throws { try start(unlocked: true) }
}

extension KeePassXC: MortalProvider {
  func start() throws { try start(nil) }
}

extension Provider {
  /// Starts another instance of the private session's provider.
  func startMortal(on bus: PrivateBus) throws -> any MortalProvider {
    switch self {
    case .gnomeKeyring: try GnomeKeyring(on: bus)
    case .kwallet: try KWallet(on: bus)
    case .keepassxc: try KeePassXC(on: bus, savesAtOnce: true)
    }
  }
}
#endif
