// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

/// A KeePassXC for one test, which can be killed and started again with the same files.
///
/// Each database exposes its root group, and so is a collection with the name of its file.
final class KeePassXC {
  static let password = "the password of a test's database"
  private static let window = "org.keepassxc.KeePassXC.MainWindow"
  private let bus: PrivateBus
  private let databases: [String]
  private let screen: Screen?
  private let directory = TemporaryDirectory()
  private var home: String { directory.path }
  private var program: Program?

  /// Starts the keyring.
  ///
  /// - Parameters:
  ///   - bus: The bus of the keyring.
  ///   - databases: The names of the databases. The last one is in front.
  ///   - unlocked: `true` if the databases are unlocked.
  ///   - confirming: `true` if it asks before a program uses another program's item or removes an
  ///     item. A new installation does.
  ///   - savesAtOnce: `true` if it writes its file after each change. A new installation does.
  ///     Version 2.7.4 crashes when an item changes during the write.
  ///   - screen: The screen for its dialogs. Without a screen, no dialog can be answered.
  ///   - entry: The fields of an entry that its user has made, by their names.
  ///   - starts: `true` if it's started. Otherwise there are only its files.
  /// - Throws: An error if the keyring doesn't start.
  init(
    on bus: PrivateBus, databases: [String] = ["secrets"], unlocked: Bool = true,
    confirming: Bool = false, savesAtOnce: Bool = false, screen: Screen? = nil,
    entry: [String: String] = [:], starts: Bool = true
  ) throws {
    self.bus = bus
    self.databases = databases
    self.screen = screen
    try directory.makeDirectory("keepassxc")
    try directory.write(
      Self.settings(confirming: confirming, savesAtOnce: savesAtOnce), "keepassxc/keepassxc.ini")
    for database in databases { try make(database, entry) }
    if starts { try start(unlocked: unlocked) }
  }

  deinit { try? kill() }

  /// Starts the keyring again after ``kill()``, with the databases in this order.
  func start(_ databases: [String]? = nil, unlocked: Bool = true) throws {
    let databases = databases ?? self.databases
    let program = try Program(
      "keepassxc", unlocked ? [] : databases.map { path(of: $0) }, environment: environment,
      complaints: .nullDevice)
    self.program = program
    try program.closeInput()
    try bus.wait(for: "org.freedesktop.secrets")
    // Version 2.7.10 crashes if it starts with the name of a file and its password.
    if unlocked {
      try bus.wait(for: Self.window)
      for database in databases { try bringToFront(database) }
    }
    // KeePassXC owns its name before it has opened its databases.
    try wait(unlocked ? [] : Set(databases), count: databases.count)
  }

  /// Ends the keyring after its databases were locked, which writes them.
  func end() throws {
    try lock()
    try kill()
  }

  func kill() throws {
    try program?.end()
    program = nil
  }

  /// Locks all databases, as the user can.
  func lock() throws {
    // KeePassXC ignores the order while it saves or a dialog is open, and reports nothing.
    let deadline = ContinuousClock.now + .seconds(60)
    while try locked() != Set(databases) {
      try #require(ContinuousClock.now < deadline, "KeePassXC has not locked its databases")
      try order("lockAllDatabases")
    }
  }

  /// Unlocks a database with the password, as the user can, and brings it to the front.
  func unlock(_ database: String = "secrets") throws {
    try bringToFront(database)
    try #require(try !locked().contains(database), "KeePassXC has not unlocked \(database)")
  }

  /// Brings a database to the front, which makes it the default collection.
  func bringToFront(_ database: String) throws {
    try order("openDatabase", path(of: database), Self.password)
  }

  // MARK: - Starting it

  private static func settings(confirming: Bool, savesAtOnce: Bool) -> String {
    """
    [General]
    ConfigVersion=2
    UpdateCheckMessageShown=true
    AutoSaveAfterEveryChange=\(savesAtOnce)
    OpenPreviousDatabasesOnStartup=false

    [GUI]
    CheckForUpdates=false

    [FdoSecrets]
    Enabled=true
    ShowNotification=false
    ConfirmAccessItem=\(confirming)
    ConfirmDeleteItem=\(confirming)

    """
  }

  var environment: [String: String] {
    var environment = bus.environment.merging(.ofProvider(at: home)) { $1 }
    // It contains the lock that allows only one instance.
    environment["TMPDIR"] = home
    environment["XDG_CACHE_HOME"] = home + "/cache"
    environment["LC_ALL"] = "C.UTF-8"
    environment["QT_QPA_PLATFORM"] = screen == nil ? "offscreen" : "xcb"
    environment["DISPLAY"] = screen?.display ?? ""
    environment["LD_PRELOAD"] = ProcessInfo.processInfo.environment["KEYRING_TEST_NO_USB"]
    return environment
  }

  func path(of database: String) -> String { "\(home)/\(database).kdbx" }

  private func make(_ database: String, _ entry: [String: String]) throws {
    let fields = entry.map { "<String><Key>\($0)</Key><Value>\($1)</Value></String>" }.joined()
    let description = """
      <?xml version="1.0" encoding="UTF-8"?>
      <KeePassFile><Meta><DatabaseName>\(database)</DatabaseName><CustomData>
      <Item><Key>FDO_SECRETS_EXPOSED_GROUP</Key>
      <Value>{00000000-0000-0000-0000-000000000001}</Value></Item></CustomData></Meta>
      <Root><Group><UUID>AAAAAAAAAAAAAAAAAAAAAQ==</UUID><Name>Root</Name>
      \(entry.isEmpty ? "" : "<Entry><UUID>AAAAAAAAAAAAAAAAAAAAAg==</UUID>\(fields)</Entry>")
      </Group></Root></KeePassFile>
      """
    try directory.write(description, "\(database).xml")
    // Each save derives the key again, and that must not take a second.
    let making = try Program(
      "keepassxc-cli",
      ["import", "--quiet", "--set-password", "--decryption-time", "100"]
        + ["\(home)/\(database).xml", path(of: database)],
      environment: environment.merging(["QT_QPA_PLATFORM": "offscreen"]) { $1 },
      complaints: .nullDevice)
    let passwords = Data("\(Self.password)\n\(Self.password)\n".utf8)
    try #require(making.finish(input: passwords).status == 0, "KeePassXC made no database")
  }

  // MARK: - Its window

  private func order(_ method: String, _ arguments: String...) throws {
    let answer = try bus.call(
      "\(Self.window).\(method)", arguments, of: Self.window, at: "/keepassxc")
    try #require(answer != nil, "KeePassXC did not answer \(method)")
  }

  private func locked() throws -> Set<String> {
    Set(try bus.storage(.never).collections().filter(\.isLocked).map(\.label))
  }

  private func wait(_ locked: Set<String>, count: Int) throws {
    let storage = bus.storage(.never)
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      let collections = (try? storage.collections()) ?? []
      let defaults = collections.filter(\.isDefault)
      if collections.count == count, defaults.count == 1,
        Set(collections.filter(\.isLocked).map(\.label)) == locked
      {
        return
      }
      try #require(
        ContinuousClock.now < deadline, "the locked databases aren't \(locked): \(collections)")
    }
  }
}
#endif
