// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import Testing

/// A KWallet for one test, which can be killed and started again with the same files.
///
/// Its wallet has an empty password, and so it opens without a question.
final class KWallet: MortalProvider {
  private let bus: PrivateBus
  private let home = "/tmp/swift-keyring-\(UUID().uuidString)"
  private var program: Program?

  init(on bus: PrivateBus) throws {
    self.bus = bus
    try FileManager.default.createDirectory(
      atPath: home + "/kwalletd", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    let settings = """
      [Wallet]
      First Use=false
      Launch Manager=false
      Prompt on Open=false

      [org.freedesktop.secrets]
      apiEnabled=true

      """
    try Data(settings.utf8).write(to: URL(filePath: home + "/kwalletrc"))
    try startProgram()
    try makeWallet("kdewallet")
    // Its Secret Service only has the wallets that were there when it started.
    try kill()
    try start()
  }

  deinit {
    try? kill()
    try? FileManager.default.removeItem(atPath: home)
  }

  func start() throws {
    try startProgram()
    let storage = bus.storage()
    let deadline = ContinuousClock.now + .seconds(20)
    while (try? storage.unlock()) == nil {
      try #require(ContinuousClock.now < deadline, "the wallet does not open")
    }
  }

  func kill() throws {
    try program?.end()
    program = nil
  }

  private func startProgram() throws {
    var environment = bus.environment
    for variable in [
      "HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
    ] {
      environment[variable] = home
    }
    environment["QT_QPA_PLATFORM"] = "offscreen"
    program = try Program(
      Provider.kwalletProgram, environment: environment, complaints: .nullDevice)
    try bus.wait(for: "org.freedesktop.secrets")
  }

  /// Makes a wallet as pam_kwallet does at the login of a user who may not have one yet.
  private func makeWallet(_ name: String) throws {
    let made = try Program.script("new-wallet-key.py", [home + "/kwalletd/\(name).salt"]).finish()
    let kwallet = Provider.kwalletProgram
    let object = kwallet == "ksecretd" ? "/ksecretd" : "/modules/\(kwallet)"
    let call = try Program(
      "gdbus",
      ["call", "--session", "--dest", "org.kde.\(kwallet)", "--object-path", object]
        + ["--method", "org.kde.KWallet.pamOpen", name]
        + [String(decoding: made.output, as: UTF8.self), "0"], environment: bus.environment)
    try #require(call.finish().status == 0, "KWallet made no wallet")
  }
}
#endif
