// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import Testing

/// A provider for one test, which can be killed and started again with the same files.
protocol MortalProvider: AnyObject {
  func start() throws
  /// Ends the provider in a way that lets it write everything first.
  func end() throws
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
  ///
  /// - Parameters:
  ///   - bus: The bus of the provider.
  ///   - savesAtOnce: `false` if KeePassXC may write its file at its end only, so that it doesn't crash.
  /// - Returns: The provider.
  /// - Throws: An error if the provider doesn't start.
  func startMortal(on bus: PrivateBus, savesAtOnce: Bool = true) throws -> any MortalProvider {
    switch self {
    case .gnomeKeyring: try GnomeKeyring(on: bus)
    case .kwallet: try KWallet(on: bus)
    case .keepassxc: try KeePassXC(on: bus, savesAtOnce: savesAtOnce)
    }
  }
}
#endif
