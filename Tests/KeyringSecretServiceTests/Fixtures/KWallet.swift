// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

/// A KWallet for one test, which can be killed and started again with the same files.
///
/// By default, its wallets have an empty password, and so they open without a question.
final class KWallet: MortalProvider {
  private let bus: PrivateBus
  private let directory = TemporaryDirectory()
  private var home: String { directory.path }
  private var program: Program?

  /// Starts the keyring.
  ///
  /// - Parameters:
  ///   - bus: The bus of the keyring.
  ///   - wallets: The names of the wallets. "kdewallet" is the default one.
  ///   - password: The password of the wallets.
  ///   - starts: `true` if it's started. Otherwise there are only its files.
  /// - Throws: An error if the keyring doesn't start.
  init(
    on bus: PrivateBus, wallets: [String] = ["kdewallet"], password: String = "",
    starts: Bool = true
  ) throws {
    self.bus = bus
    try directory.makeDirectory("kwalletd")
    for wallet in wallets {
      try choose(wallet)
      try make(wallet, password)
      // Its Secret Service only has the wallets that were there when it started.
      try kill()
    }
    try choose("kdewallet")
    if starts { try start() }
  }

  /// Makes a wallet the default one of the keyring, which isn't running.
  private func choose(_ wallet: String) throws {
    let settings = """
      [Wallet]
      First Use=false
      Launch Manager=false
      Prompt on Open=false
      Default Wallet=\(wallet)

      [org.freedesktop.secrets]
      apiEnabled=true

      """
    try directory.write(settings, "kwalletrc")
  }

  deinit { try? kill() }

  func start() throws {
    program = try Program(
      Provider.kwalletProgram, environment: environment, complaints: .nullDevice)
    try bus.wait(for: "org.freedesktop.secrets")
    // KWallet sometimes drops a prompt while it starts, so each attempt is short.
    let storage = bus.storage(promptTimeout: .seconds(2))
    try #require(waitUntil { (try? storage.unlock()) != nil }, "the wallet does not open")
  }

  /// Ends the wallet after it was closed, because a logout alone doesn't wait for it.
  func end() throws {
    try bus.storage().lock()
    try kill()
  }

  func kill() throws {
    try program?.end()
    program = nil
  }

  var environment: [String: String] {
    bus.environment.merging(.ofProvider(at: home)) { $1 }
      .merging(["XDG_CACHE_HOME": home, "QT_QPA_PLATFORM": "offscreen"]) { $1 }
  }

  /// Makes the default wallet as pam_kwallet does at the login of a user who has none yet.
  private func make(_ name: String, _ password: String) throws {
    let wallet = home + "/kwalletd/" + name
    program = try Program.script(
      "log-in-to-kwallet.py", [Provider.kwalletProgram, wallet + ".salt", password],
      environment: environment, complaints: .nullDevice)
    try bus.wait(for: "org.freedesktop.secrets")
    try #require(
      waitUntil { FileManager.default.fileExists(atPath: wallet + ".kwl") },
      "KWallet made no wallet")
    // Its next answer comes when it has ended the file.
    _ = try? bus.storage(.never).isLocked()
  }
}
#endif
