// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

/// A gnome-keyring for one test, which can be killed and started again with the same files.
final class GnomeKeyring {
  private static let password = "the password of a test's keyring"
  /// The password as the user has to type it, because the keyring takes the line break for a part of it.
  static let typedPassword = password + "\n"
  private let bus: PrivateBus
  private let directory = TemporaryDirectory()
  /// The home directory of the keyring, which is also its directory of data.
  var home: String { directory.path }
  private let hasPassword: Bool
  private var program: Program?

  /// Starts the keyring.
  ///
  /// - Parameters:
  ///   - bus: The bus of the keyring.
  ///   - hasCollection: `true` if the keyring has a default collection.
  ///   - hasPassword: `true` if the default collection has a password. Otherwise its file is text.
  ///   - unlocked: `true` if the default collection is unlocked.
  /// - Throws: An error if the keyring doesn't start.
  init(
    on bus: PrivateBus, hasCollection: Bool = true, hasPassword: Bool = true, unlocked: Bool = true
  ) throws {
    self.bus = bus
    self.hasPassword = hasPassword
    if !hasPassword { try Self.makeTextFile("login", in: home, isDefault: true) }
    try start(unlocked: hasCollection && unlocked)
  }

  /// Makes the file of a collection without a password.
  ///
  /// - Parameters:
  ///   - name: The name of the collection, whose label is the same with a capital letter.
  ///   - home: The directory of data of the keyring.
  ///   - isDefault: `true` if it's the default collection.
  /// - Throws: An error if the file can't be made.
  static func makeTextFile(_ name: String, in home: String, isDefault: Bool) throws {
    let directory = URL(filePath: home + "/keyrings")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let text = """
      [keyring]
      display-name=\(name.capitalized)
      ctime=1
      mtime=1
      lock-on-idle=false
      lock-after=false

      """
    try Data(text.utf8).write(to: directory.appending(path: name + ".keyring"))
    if isDefault { try Data(name.utf8).write(to: directory.appending(path: "default")) }
  }

  deinit { try? kill() }

  /// Starts the keyring again after ``kill()``.
  func start(unlocked: Bool = true) throws {
    let typesPassword = unlocked && hasPassword
    let program = try Program(
      "gnome-keyring-daemon",
      ["--foreground", "--components=secrets"] + (typesPassword ? ["--unlock"] : []),
      environment: bus.environment.merging(.ofProvider(at: home)) { $1 })
    self.program = program
    if typesPassword { try program.writeLine(Self.password) }
    try program.closeInput()
    try bus.wait(for: "org.freedesktop.secrets")
    guard unlocked else { return }
    // The keyring owns its name before its login collection can be used.
    let storage = bus.storage(hasPassword ? .never : .allowed)
    let isUsable = waitUntil {
      // Without a password, the keyring asks nobody.
      if !hasPassword { try? storage.unlock() }
      return (try? storage.isLocked()) == false
    }
    try #require(isUsable, "the keyring has no default collection")
  }

  /// Copies the files as they are now.
  func keepFiles() throws {
    try FileManager.default.copyItem(atPath: home + "/keyrings", toPath: home + "/kept")
  }

  /// Replaces the files with the copies while the keyring isn't running.
  func bringBackFiles() throws {
    try FileManager.default.removeItem(atPath: home + "/keyrings")
    try FileManager.default.moveItem(atPath: home + "/kept", toPath: home + "/keyrings")
  }

  /// Runs a closure while the keyring answers nothing.
  func whileSuspended(_ body: () throws -> Void) rethrows {
    program?.suspend()
    defer { program?.suspend(false) }
    try body()
  }

  func end() throws {
    program?.terminate()
    program = nil
  }

  func kill() throws {
    try program?.end()
    program = nil
  }
}
#endif
