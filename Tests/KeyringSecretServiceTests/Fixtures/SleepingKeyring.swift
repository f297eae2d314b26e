// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import Testing

@testable import KeyringSecretService

/// A gnome-keyring that the bus starts once a program needs it, as on a desktop.
final class SleepingKeyring {
  /// The collections that the user has before the keyring starts.
  enum Collections {
    case none
    /// The default collection "Login", without a password, so it opens without a question.
    case login
    /// The default collection "Login" with a password.
    case lockedLogin
    /// The default collection "Login", and "Archive", whose name comes first.
    case loginAndArchive
  }

  /// The way in which the keyring starts.
  enum Start: CaseIterable {
    /// Nothing runs before the test's first call.
    case firstCall
    /// Another program's call has started it.
    case anotherProgram
    /// PAM has started it with the user's password, as GNOME's login does. It isn't on the bus yet.
    case login
  }

  let bus: PrivateBus
  private let home: String
  /// The keyring that PAM has started, which isn't on the bus yet.
  private var loginDaemon: Program?
  static let password = "the password of a user"
  private static let directories = ["HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME"]

  /// - Parameters:
  ///   - collections: The collections of the user.
  ///   - start: The way in which the keyring starts.
  /// - Throws: An error if the bus doesn't start.
  init(_ collections: Collections, _ start: Start = .firstCall) throws {
    let home = "/tmp/swift-keyring-\(UUID().uuidString)"
    self.home = home
    try FileManager.default.createDirectory(
      atPath: home + "/keyrings", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    let variables = Self.directories.map { "\($0)=\(home)" }.joined(separator: " ")
    // This is the command of the service files that gnome-keyring installs.
    bus = try PrivateBus(
      activation: "/usr/bin/env \(variables) "
        + "gnome-keyring-daemon --start --foreground --components=secrets")
    switch collections {
    case .none: break
    case .login: try GnomeKeyring.makeTextFile("login", in: home, isDefault: true)
    case .lockedLogin: try makeLockedLogin()
    case .loginAndArchive:
      try GnomeKeyring.makeTextFile("login", in: home, isDefault: true)
      try GnomeKeyring.makeTextFile("archive", in: home, isDefault: false)
    }
    switch start {
    case .firstCall: break
    case .anotherProgram: try bus.start(MethodCall.secrets)
    case .login: try logIn()
    }
  }

  deinit {
    try? kill()
    _ = try? loginDaemon?.end()
    try? bus.kill()
    try? FileManager.default.removeItem(atPath: home)
  }

  /// Kills the keyring that the bus has started, if it runs.
  ///
  /// The next message to it makes the bus start another one.
  func kill() throws {
    guard let process = try process() else { return }
    Foundation.kill(process, SIGKILL)
    // The bus notices when the connection closes.
    try #require(try waitUntil { try self.process() != process })
  }

  /// The process that provides the Secret Service, if any.
  private func process() throws -> pid_t? {
    let call = try Program(
      "gdbus",
      ["call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/"]
        + ["--method", "org.freedesktop.DBus.GetConnectionUnixProcessID", MethodCall.secrets],
      environment: bus.environment, complaints: .nullDevice)
    let (status, output) = try call.finish()
    guard status == 0 else { return nil }
    let text = String(decoding: output, as: UTF8.self)
    return pid_t(text.split(separator: " ").last?.prefix { $0.isNumber } ?? "")
  }

  // MARK: - The user's files

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
    var environment = environment
    for variable in Self.directories { environment[variable] = home }
    let address = "DBUS_SESSION_BUS_ADDRESS"
    let daemon = try Program(
      "env",
      (environment[address] == nil ? ["-u", address] : [])
        + ["gnome-keyring-daemon", "--foreground", option], environment: environment)
    try daemon.write(Self.password)
    try daemon.closeInput()
    return daemon
  }
}
#endif
