#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringFile
import Testing

@testable import KeyringSecretService

/// A program on machines without a desktop, each time started as there: `Examples/HeadlessService`.
@Suite struct HeadlessTests {
  private let folder = "/tmp/swift-keyring-\(UUID().uuidString)"
  private let program: String

  init() throws {
    // Where any user can reach it, as a program that was installed.
    program = folder + "/service"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    let built = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("HeadlessService")
    try FileManager.default.copyItem(atPath: built.path, toPath: program)
  }

  /// Starts it with nothing but these variables, by a command that may change more than that.
  private func run(
    _ variables: [String: String], by command: [String] = []
  ) throws -> (status: Int32, lines: [String]) {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let assignments = variables.map { "\($0)=\($1)" }
    let words = command + ["env", "-i"] + assignments + [program]
    let (status, output) = try Program(words[0], Array(words.dropFirst())).finish()
    return (status, String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init))
  }

  @Test func noBusAtAll() throws {
    let (status, lines) = try run(["HOME": "/nonexistent"])
    #expect(status == 1 && lines.count == 1)
    let line = lines.first ?? ""
    #expect(
      line.hasPrefix(
        "failure: FirstAvailableStorage: read failed (noStorage). No storage can be used"))
    for reason in [
      "CREDENTIALS_DIRECTORY isn't set", "/run/secrets doesn't exist", "session bus",
      "HEADLESS_SERVICE_", "dbus-run-session", "LoadCredentialEncrypted",
    ] {
      #expect(line.contains(reason), "\(reason)")
    }
  }

  @Test func noBusAndAVariable() throws {
    let (status, lines) = try run(["HEADLESS_SERVICE_AUTH_TOKEN": "s3cret"])
    #expect(status == 0)
    #expect(
      lines.first == """
        storage: EnvironmentStorage, as CredentialsDirectoryStorage has noStorage and \
        CredentialsDirectoryStorage has noStorage and SecretServiceStorage has noSessionBus
        """)
    #expect(lines.contains("token: 6 characters") && lines.last == "writing: readOnly")
    // The failure handler is told which storage it was, and why not another.
    let failure = lines.first { $0.hasPrefix("failure: EnvironmentStorage, as Cred") }
    #expect(failure?.contains("has noSessionBus: save failed (readOnly)") == true)
    #expect(!lines.joined().contains("s3cret"))
  }

  /// As systemd.exec(5) has it: no session, a directory that only the service may read, "/" as the
  /// working directory, and no home.
  @Test func aServiceOfSystemd() throws {
    let credentials = folder + "/credentials"
    try FileManager.default.createDirectory(
      atPath: credentials, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    try Data("s3cret\n".utf8).write(to: URL(fileURLWithPath: credentials + "/authToken"))
    for (path, mode) in [(credentials + "/authToken", 0o400), (credentials, 0o500)] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
    defer {
      try? FileManager.default.setAttributes(
        [.posixPermissions: 0o700], ofItemAtPath: credentials)
    }
    let (status, lines) = try run(
      [
        "CREDENTIALS_DIRECTORY": credentials, "INVOCATION_ID": "0123456789abcdef",
        "JOURNAL_STREAM": "8:1", "LANG": "C.UTF-8", "SYSTEMD_EXEC_PID": "1",
      ], by: ["setsid", "--wait", "env", "--chdir=/"])
    #expect(status == 0)
    #expect(lines.first == "storage: CredentialsDirectoryStorage")
    #expect(lines.contains("token: 6 characters") && lines.last == "writing: readOnly")
  }

  /// No home, nothing that can be written, and a secret mounted at /run/secrets, as Docker and Podman
  /// do it.
  @Test(.enabled(if: Namespaces.areAllowed, "this machine lets nobody make a mount namespace"))
  func aContainer() throws {
    let mounts = """
      set -e
      mount --make-rprivate /
      mount -t tmpfs tmpfs /run
      mkdir /run/secrets && printf s3cret >/run/secrets/authToken
      mount -o remount,ro,bind /run
      mount --bind / / && mount -o remount,ro,bind /
      mount -t tmpfs -o ro tmpfs /home
      cd / && exec "$@"
      """
    let (status, lines) = try run(
      ["PATH": "/usr/bin:/bin"], by: Namespaces.command + ["sh", "-c", mounts, "sh"])
    #expect(status == 0)
    #expect(lines.first?.hasPrefix("storage: CredentialsDirectoryStorage, as") == true)
    #expect(lines.contains("token: 6 characters") && lines.last == "writing: readOnly")
  }

  #if EncryptedFile
  /// A file in this test's folder with the token, as an earlier run of the program has left it.
  private func makeFile() throws -> (folder: String, keys: String) {
    let (state, keys) = (folder + "/state", folder + "/keys")
    try EncryptedFileStorage(at: state + "/secrets", key: .keyFile(at: keys + "/secrets-key"))
      .setPassword(
        "s3cret", for: .password(service: "org.example.HeadlessService", account: "authToken"))
    return (state, keys)
  }

  private func expectTheFile(_ status: Int32, _ lines: [String]) {
    #expect(status == 0)
    #expect(
      lines == ["storage: EncryptedFileStorage", "token: 6 characters", "writing: done"])
  }

  @Test func aServiceOfSystemdWithAnEncryptedFile() throws {
    let (state, keys) = try makeFile()
    let (status, lines) = try run(
      ["STATE_DIRECTORY": state, "CREDENTIALS_DIRECTORY": keys],
      by: ["setsid", "--wait", "env", "--chdir=/"])
    expectTheFile(status, lines)
  }

  /// A volume that can be written, in a root that cannot.
  @Test(.enabled(if: Namespaces.areAllowed, "this machine lets nobody make a mount namespace"))
  func aContainerWithAnEncryptedFile() throws {
    let (state, keys) = try makeFile()
    let mounts = """
      set -e
      mount --make-rprivate /
      mount --bind "$1" "$1"
      mount --bind / / && mount -o remount,ro,bind /
      shift
      cd / && exec "$@"
      """
    let (status, lines) = try run(
      [
        "PATH": "/usr/bin:/bin", "STATE_DIRECTORY": state,
        "HEADLESS_SERVICE_KEY_FILE": keys + "/secrets-key",
      ], by: Namespaces.command + ["sh", "-c", mounts, "sh", state])
    expectTheFile(status, lines)
  }

  /// A remote login with a bus, and nothing on it: what there is of a keyring is not asked.
  @Test func aRemoteShellWithAnEncryptedFile() throws {
    let (state, keys) = try makeFile()
    let (status, lines) = try run([
      "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "SSH_CONNECTION": "::1 50000 ::1 22",
      "STATE_DIRECTORY": state, "HEADLESS_SERVICE_KEY_FILE": keys + "/secrets-key",
    ])
    expectTheFile(status, lines)
  }

  /// The token is in the file, and what a variable has instead is not to be taken for it.
  @Test func aFileWithAnotherKeyIsNotPassedOver() throws {
    let (state, keys) = try makeFile()
    try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: keys + "/secrets-key"))
    let (status, lines) = try run([
      "STATE_DIRECTORY": state, "CREDENTIALS_DIRECTORY": keys,
      "HEADLESS_SERVICE_AUTH_TOKEN": "another",
    ])
    #expect(status == 1 && lines.count == 1)
    #expect(lines.first?.contains("(wrongKey)") == true)
  }

  /// Started by hand, as somebody else than the service: whose token is in the file cannot be seen.
  @Test(.enabled(if: geteuid() == 0, "only root can start it as another user"))
  func aFileOfAnotherUserIsNotPassedOver() throws {
    let (state, keys) = try makeFile()
    let (status, lines) = try run(
      [
        "STATE_DIRECTORY": state, "HEADLESS_SERVICE_KEY_FILE": keys + "/secrets-key",
        "HEADLESS_SERVICE_AUTH_TOKEN": "another",
      ], by: Self.asNobody)
    #expect(status == 1 && lines.count == 1)
    #expect(lines.first?.contains("(accessDenied)") == true)
  }
  #endif

  private static let asNobody = ["setpriv", "--reuid=65534", "--clear-groups"]

  /// `sudo --user`, with the bus of the user who called it.
  @Test(
    .inPrivateSession,
    .enabled(if: geteuid() == 0, "only root can start it as another user"))
  func anotherUserWithTheBusOfTheFirst() throws {
    let bus = try PrivateBus()
    // As systemd makes /run/user/1000.
    let socket = try #require(BusAddress(text: bus.address).socket)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o700],
      ofItemAtPath: URL(fileURLWithPath: socket).deletingLastPathComponent().path)
    let (status, lines) = try run(
      [
        "DBUS_SESSION_BUS_ADDRESS": bus.address, "HEADLESS_SERVICE_AUTH_TOKEN": "s3cret",
      ], by: Self.asNobody)
    #expect(status == 0)
    #expect(lines.first?.hasSuffix("SecretServiceStorage has noSessionBus") == true)
  }

  /// A snap without the interface password-manager-service: the bus lets no message through.
  ///
  /// Outside of any sandbox it is the keyring that says no, which may have the token.
  @Test(.inPrivateSession, arguments: [true, false])
  func aKeyringThatIsDenied(isSandboxed: Bool) throws {
    let bus = try PrivateBus()
    let service = try FakeService(on: bus)
    try service.fault("OpenSession", .error("org.freedesktop.DBus.Error.AccessDenied"))
    var variables = [
      "DBUS_SESSION_BUS_ADDRESS": bus.address, "HEADLESS_SERVICE_AUTH_TOKEN": "s3cret",
    ]
    if isSandboxed { variables["SNAP"] = "/snap/example/1" }
    let (status, lines) = try run(variables)
    if isSandboxed {
      #expect(status == 0)
      #expect(lines.first?.hasSuffix("SecretServiceStorage has noStorage") == true)
    } else {
      #expect(status == 1 && lines.count == 1)
      #expect(lines.first?.contains("(accessDenied)") == true)
    }
  }

  /// A remote login: the bus of the user's systemd, and a keyring that no login has unlocked.
  @Test(.inPrivateSession) func aRemoteShellWithALockedKeyring() throws {
    let bus = try PrivateBus()
    let keyring = try GnomeKeyring(on: bus)
    defer { _ = keyring }
    try bus.storage().setPassword(
      "s3cret", for: .password(service: "org.example.HeadlessService", account: "authToken"))
    let variables = [
      "DBUS_SESSION_BUS_ADDRESS": bus.address, "SSH_CONNECTION": "::1 50000 ::1 22",
      "SSH_TTY": "/dev/pts/0", "TERM": "xterm", "HOME": "/tmp",
      // Not what to fall back on while the keyring is there.
      "HEADLESS_SERVICE_AUTH_TOKEN": "another",
    ]
    try bus.storage().lock()
    let (status, lines) = try run(variables)
    #expect(status == 1)
    #expect(lines.first?.hasPrefix("storage: SecretServiceStorage, as") == true)
    let failure = lines.last ?? ""
    #expect(failure.contains("read failed (locked). The keyring is locked. Unlock it in"))
    #expect(lines.count == 2)
  }

  /// What was stored in a keyring that is gone is not looked for elsewhere the next time.
  @Test(.inPrivateSession) func theKeyringOfAnEarlierRunIsGone() throws {
    let bus = try PrivateBus()
    let service = try FakeService(on: bus)
    try bus.storage().setPassword(
      "s3cret", for: .password(service: "org.example.HeadlessService", account: "authToken"))
    let home = folder + "-home"
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: home) }
    let variables = [
      "DBUS_SESSION_BUS_ADDRESS": bus.address, "HEADLESS_SERVICE_AUTH_TOKEN": "another",
      "HOME": home,
    ]
    #expect(try run(variables).lines.suffix(2) == ["token: 6 characters", "writing: done"])
    let selection = home + "/.local/state/swift-keyring/org.example.HeadlessService.selection"
    #expect(try String(contentsOfFile: selection, encoding: .utf8) == "SecretServiceStorage\n")
    try service.end()
    let (status, lines) = try HeadlessTests().run(variables)
    #expect(status == 1 && lines.count == 1)
    #expect(
      lines.first?.hasPrefix("failure: SecretServiceStorage: read failed (chosenStorageMissing)")
        == true)
    #expect(lines.first?.contains("remove \(selection).") == true)
  }

  /// `sudo --preserve-env`, with the bus of the user who called it.
  @Test(
    .inPrivateSession,
    .enabled(if: geteuid() == 0, "only root can be root with another user's bus address"))
  func rootWithTheBusOfAnotherUser() throws {
    let bus = try PrivateBus(user: "nobody")
    let (status, lines) = try run([
      "DBUS_SESSION_BUS_ADDRESS": bus.address, "SUDO_USER": "nobody", "SUDO_UID": "65534",
      "HOME": "/root",
    ])
    #expect(status == 1 && lines.last?.contains("noStorage") == true)
    let diagnosis = bus.storage().diagnose()
    #expect(diagnosis.failure?.code == .noSessionBus)
    #expect("\(diagnosis)".contains("belongs to user 65534."), "\(diagnosis)")
    #expect("\(diagnosis)".contains("instead of with sudo"))
    // It is the other user's, and works for that one.
    let other = try PrivateBus()
    #expect(other.storage().diagnose().failure?.code == .noProvider)
  }
}

/// Mount namespaces of a test's own: those of root, or of a user who is root in them.
private enum Namespaces {
  static let command =
    ["unshare", "--mount"] + (geteuid() == 0 ? [] : ["--user", "--map-root-user"])

  static let areAllowed: Bool = {
    let words = command + ["true"]
    let program = try? Program(
      words[0], Array(words.dropFirst()), complaints: .nullDevice)
    return (try? program?.finish().status) == 0
  }()
}
#endif
