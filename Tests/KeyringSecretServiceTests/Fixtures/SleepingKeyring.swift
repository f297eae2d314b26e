// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

@testable import KeyringSecretService

/// A keyring of the tested provider that the bus starts once a program needs it, as on a desktop.
final class SleepingKeyring {
  /// The collections that the user has before the keyring starts.
  enum Collections {
    case none
    /// The default collection "Login", without a password, so it opens without a question.
    case login
    /// The default collection "Login" with a password.
    case lockedLogin
    /// The default collection "Login", and "Archive", whose name comes first.
    ///
    /// On KeePassXC, the default is the database whose name comes first, so the other one is "work", in front. Each has
    /// a password, which a user types when it's asked for.
    case loginAndArchive

    /// The names of the collections on KWallet and KeePassXC.
    fileprivate var names: [String] {
      switch self {
      case .none: []
      case .login, .lockedLogin: [Provider.current.defaultCollection]
      case .loginAndArchive:
        Provider.current == .keepassxc
          ? [Provider.current.defaultCollection, "work"]
          : ["archive", Provider.current.defaultCollection]
      }
    }
  }

  /// The way in which the keyring starts.
  enum Start: CaseIterable {
    /// Nothing runs before the test's first call.
    case firstCall
    /// Another program's call has started it.
    case anotherProgram
    /// PAM has started it with the user's password, as GNOME's login does. It isn't on the bus yet.
    case login

    /// The ways without a login, which every provider has.
    static let withoutLogin = [firstCall, anotherProgram]
    /// The ways of the tested provider.
    static let ofProvider = Provider.current == .gnomeKeyring ? allCases : withoutLogin
  }

  let bus: PrivateBus
  /// The label of the default collection.
  static let label =
    Provider.current == .gnomeKeyring ? "Login" : Provider.current.defaultCollection
  private let directory = TemporaryDirectory()
  private var home: String { directory.path }
  /// The files of another provider than gnome-keyring.
  private let files: AnyObject?
  /// The screen with the provider's own dialogs, if it has some.
  private let screen: Screen?
  /// The user who types the password of a database.
  private var user: Screen.User?
  private let typesPassword: Bool
  /// The keyring that PAM has started, which isn't on the bus yet.
  private var loginDaemon: Program?
  static let password = "the password of a user"

  /// - Parameters:
  ///   - collections: The collections of the user.
  ///   - start: The way in which the keyring starts.
  /// - Throws: An error if the bus doesn't start.
  init(_ collections: Collections, _ start: Start = .firstCall) throws {
    try directory.makeDirectory("keyrings")
    let isShown =
      Provider.current == .keepassxc || Provider.current == .kwallet && collections == .lockedLogin
    let screen = isShown ? try Screen() : nil
    self.screen = screen
    let command: [String]
    var environment: [String: String] = [:]
    var name = MethodCall.secrets
    switch Provider.current {
    case .gnomeKeyring:
      files = nil
      environment = .ofProvider(at: directory.path)
      // This is the command of the service files that gnome-keyring installs.
      command = ["gnome-keyring-daemon", "--start", "--foreground", "--components=secrets"]
    case .kwallet:
      let wallets = try KWallet(
        on: PrivateBus(), wallets: collections.names,
        password: collections == .lockedLogin ? Self.password : "", starts: false)
      files = wallets
      environment = wallets.environment
      if let screen {
        environment["QT_QPA_PLATFORM"] = "xcb"
        environment["DISPLAY"] = screen.display
      }
      command = [Provider.kwalletProgram]
      if Provider.kwalletProgram == "ksecretd" { name = "org.kde.secretservicecompat" }
    case .keepassxc:
      let databases = try KeePassXC(
        on: PrivateBus(), databases: collections.names, screen: screen, starts: false)
      files = databases
      environment = databases.environment
      command = ["keepassxc"] + collections.names.map { databases.path(of: $0) }
    }
    // The bus sets its own address.
    environment["DBUS_SESSION_BUS_ADDRESS"] = nil
    let variables = environment.map { "\($0)=\($1)" }
    bus = try PrivateBus(
      activation: (["/usr/bin/env"] + variables + command).joined(separator: " "), of: [name])
    typesPassword = Provider.current == .keepassxc && collections != .lockedLogin
    if Provider.current == .gnomeKeyring { try make(collections) }
    try expectUser()
    switch start {
    case .firstCall: break
    case .anotherProgram: try bus.start(name)
    case .login: try logIn()
    }
  }

  deinit {
    if let process = try? bus.providerProcess() { Foundation.kill(process, SIGKILL) }
    _ = try? loginDaemon?.end()
    try? bus.kill()
  }

  /// Kills the keyring that the bus has started, if it runs.
  ///
  /// The next message to it makes the bus start another one.
  func kill() throws {
    guard let process = try bus.providerProcess() else { return }
    Foundation.kill(process, SIGKILL)
    // The bus notices when the connection closes.
    try #require(try waitUntil { try bus.providerProcess() != process })
    try expectUser()
  }

  // MARK: - The user

  /// Begins to type the password of the locked collection into the prompt that will be shown.
  ///
  /// - Returns: A closure that waits until the prompt is answered.
  /// - Throws: An error if the prompt can't be awaited.
  func answerPrompt() throws -> () throws -> Void {
    guard let screen else {
      let prompter = try Prompter(.password(Self.password), on: bus)
      return { () throws -> Void in
        let count = try prompter.finish()
        #expect(count == 1)
      }
    }
    let user = try Screen.User(
      Provider.current == .kwallet ? .unlock(Self.password) : .unlock(), at: screen)
    return user.finish
  }

  private func expectUser() throws {
    guard typesPassword, let screen else { return }
    user = try Screen.User(.unlock(), at: screen)
  }

  // MARK: - The user's files

  private func make(_ collections: Collections) throws {
    switch collections {
    case .none: break
    case .login: try GnomeKeyring.makeTextFile("login", in: home, isDefault: true)
    case .lockedLogin: try makeLockedLogin()
    case .loginAndArchive:
      try GnomeKeyring.makeTextFile("login", in: home, isDefault: true)
      try GnomeKeyring.makeTextFile("archive", in: home, isDefault: false)
    }
  }

  private func makeLockedLogin() throws {
    // The first login of a user makes the collection.
    let otherBus = try PrivateBus()
    let daemon = try start("--unlock", with: otherBus.environment)
    try otherBus.wait(for: MethodCall.secrets)
    let storage = otherBus.storage(.never)
    try #require(
      waitUntil {
        (try? storage.isLocked()) == false
          && FileManager.default.fileExists(atPath: home + "/keyrings/login.keyring")
      }, "the keyring has no default collection")
    try daemon.end()
  }

  /// Starts the keyring as pam_gnome_keyring does.
  private func logIn() throws {
    // There is no bus yet.
    loginDaemon = try start("--login", with: [:])
    // The socket is there before it accepts connections.
    try #require(
      try waitUntil { try Listener.accepts(home + "/keyring/control") },
      "the keyring of the login didn't start")
  }

  private func start(_ option: String, with environment: [String: String]) throws -> Program {
    let address = "DBUS_SESSION_BUS_ADDRESS"
    let daemon = try Program(
      "env",
      (environment[address] == nil ? ["-u", address] : [])
        + ["gnome-keyring-daemon", "--foreground", option],
      environment: environment.merging(.ofProvider(at: home)) { $1 })
    try daemon.write(Self.password)
    try daemon.closeInput()
    return daemon
  }
}
#endif
