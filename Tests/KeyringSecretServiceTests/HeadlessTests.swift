// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringFile
import KeyringStorage
import Testing

@testable import KeyringSecretService

/// The program `Examples/HeadlessService`, started as on machines without a desktop.
@Suite struct HeadlessTests {
  private let temporary = TemporaryDirectory()
  private var directory: String { temporary.path }
  private var program: String { directory + "/service" }

  init() throws {
    // Any user can reach the program there, like an installed program.
    try temporary.setMode(0o755, of: "")
    try FileManager.default.copyItem(
      atPath: Program.path(of: "HeadlessService"), toPath: program)
  }

  /// Starts the program with only these variables, by a command that may change more than that.
  private func run(
    _ variables: [String: String], by command: [String] = []
  ) throws -> (status: Int32, lines: [String]) {
    // The script .ci/sanitize sets these.
    let sanitizer = ProcessInfo.processInfo.environment.filter {
      ["ASAN_OPTIONS", "LSAN_OPTIONS", "ASAN_SYMBOLIZER_PATH"].contains($0.key)
    }
    let assignments = variables.merging(sanitizer) { $1 }.map { "\($0)=\($1)" }
    let words = command + ["env", "-i"] + assignments + [program]
    let (status, output) = try Program(words[0], Array(words.dropFirst())).finish()
    return (status, String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init))
  }

  @Test func `the failure names every reason why no storage can be used`() throws {
    let (status, lines) = try run(["HOME": "/nonexistent"])
    #expect(status == 1 && lines.count == 1)
    let line = lines.first ?? ""
    #expect(
      line.hasPrefix(
        "failure: FirstAvailableStorage: read failed (noStorage). No storage can be used"))
    for reason in [
      "CREDENTIALS_DIRECTORY isn't set", "/run/secrets doesn't exist", "session bus",
      "HEADLESS_SERVICE_", "LoadCredentialEncrypted",
    ] {
      #expect(line.contains(reason), "\(reason)")
    }
  }

  /// Imitates cron, which tells a program neither the address of the bus nor its directory, and sudo, which takes both
  /// from its environment.
  @Test(
    .withMountNamespaces,
    arguments: [
      (true, "Set DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/0/bus, where this user's bus is"),
      (false, "Run the program without sudo. The session bus and its keyring belong to user 4711."),
    ])
  func `a program that isn't told of a bus names what leads to it`(
    hasBus: Bool, suggestion: String
  ) throws {
    let mounts = """
      mount --make-rprivate / && mount -t tmpfs tmpfs /run && mkdir -p /run/user/0 || exit
      \(hasBus ? "touch /run/user/0/bus" : "")
      exec "$@"
      """
    let (status, lines) = try run(
      ["PATH": "/usr/bin:/bin", "SUDO_UID": "4711"],
      by: Namespaces.command + ["sh", "-c", mounts, "sh"])
    #expect(status == 1 && lines.last?.contains(suggestion) == true, "\(lines)")
  }

  @Test func `a variable is read if there is no bus`() throws {
    let (status, lines) = try run(["HEADLESS_SERVICE_AUTH_TOKEN": "s3cret"])
    #expect(status == 0)
    #expect(
      lines.first == """
        storage: EnvironmentStorage, as CredentialsDirectoryStorage has noStorage and \
        CredentialsDirectoryStorage has noStorage and SecretServiceStorage has noSessionBus
        """)
    #expect(lines.contains("token: 6 characters") && lines.last == "writing: readOnly")
    // The failure handler learns which storage was used, and why no other one was.
    let failure = lines.first { $0.hasPrefix("failure: EnvironmentStorage, as Cred") }
    #expect(failure?.contains("has noSessionBus: save failed (readOnly)") == true)
    #expect(!lines.joined().contains("s3cret"))
  }

  /// Starts the program as described in systemd.exec(5).
  ///
  /// It has no session, a directory that only the service may read, "/" as its working directory,
  /// and no home.
  @Test func `a systemd service reads its credentials directory`() throws {
    let credentials = directory + "/credentials"
    try FileManager.default.createDirectory(
      atPath: credentials, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    try Data("s3cret\n".utf8).write(to: URL(fileURLWithPath: credentials + "/authToken"))
    for (path, mode) in [(credentials + "/authToken", 0o400), (credentials, 0o500)] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
    defer { chmod(credentials, 0o700) }
    let (status, lines) = try run(
      [
        "CREDENTIALS_DIRECTORY": credentials, "INVOCATION_ID": "0123456789abcdef",
        "JOURNAL_STREAM": "8:1", "LANG": "C.UTF-8", "SYSTEMD_EXEC_PID": "1",
      ], by: ["setsid", "--wait", "env", "--chdir=/"])
    #expect(status == 0)
    #expect(lines.first == "storage: CredentialsDirectoryStorage")
    #expect(lines.contains("token: 6 characters") && lines.last == "writing: readOnly")
  }

  /// Mounts a secret at /run/secrets, as Docker and Podman do.
  ///
  /// The program has no home, and can't write anywhere.
  @Test(.withMountNamespaces)
  func `a container reads a mounted secret`() throws {
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

  /// Starts the program where libsecret isn't installed, beside a bus and a keyring.
  @Test(.withOwnKeyring, .withMountNamespaces)
  func `a machine without libsecret uses another storage`() throws {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    let hiding = try Namespaces.withoutLibSecret(in: directory)
    let address = ["DBUS_SESSION_BUS_ADDRESS": bus.address]
    let variables = address.merging(["HEADLESS_SERVICE_AUTH_TOKEN": "s3cret"]) { $1 }
    let (status, lines) = try run(variables, by: hiding)
    #expect(status == 0)
    #expect(
      lines.first?.hasSuffix("and SecretServiceStorage has noProvider") == true, "\(lines)")
    #expect(lines.contains("token: 6 characters"))
    // With nothing else, the failure says what to install.
    let (failure, reasons) = try run(address, by: hiding)
    #expect(failure == 1)
    #expect(reasons.joined().contains("Install the package libsecret-1-0"), "\(reasons)")
    // With the library, the same keyring is selected.
    #expect(try run(variables).lines.first?.contains("has noProvider") == false)
    try keyring.kill()
  }

  /// Starts the program while an upgrade replaces the library, for example.
  ///
  /// The keyring may have the token, so the program doesn't look elsewhere.
  @Test(.withOwnKeyring, .withMountNamespaces)
  func `a damaged libsecret is not passed over`() throws {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    for (damage, cause) in [
      (Namespaces.Damage.empty, "file too short"), (.newer, "undefined symbol: g_task_neW"),
      (.lonely, "libgio-2.0.so.9: cannot open shared object file"),
    ] {
      let (status, lines) = try run(
        [
          "DBUS_SESSION_BUS_ADDRESS": bus.address, "HEADLESS_SERVICE_AUTH_TOKEN": "s3cret",
        ], by: Namespaces.withoutLibSecret(in: directory, damage: damage))
      #expect(status == 1)
      let failure = lines.last ?? ""
      #expect(failure.contains("(other)") && failure.contains(cause), "\(lines)")
      #expect(failure.contains("The program can't load libsecret."), "\(lines)")
    }
    try keyring.kill()
  }

  /// The user's own bus refuses the user of another user namespace, as it refuses other users.
  @Test(
    .withOwnKeyring,
    .enabled(if: Namespaces.withoutUserIsAllowed, "this machine doesn't allow user namespaces"))
  func `a user namespace has no bus`() throws {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    let address = ["DBUS_SESSION_BUS_ADDRESS": bus.address]
    let (status, lines) = try run(
      address.merging(["HEADLESS_SERVICE_AUTH_TOKEN": "s3cret"]) { $1 }, by: Namespaces.withoutUser)
    #expect(status == 0)
    #expect(lines.first?.hasSuffix("SecretServiceStorage has noSessionBus") == true, "\(lines)")
    let (failure, reasons) = try run(address, by: Namespaces.withoutUser)
    #expect(failure == 1)
    #expect(
      reasons.joined().contains("The session bus refused the user of this program."), "\(reasons)")
    try keyring.kill()
  }

  #if EncryptedFile
  /// Makes a file with the token in this test's directory, as an earlier run of the program leaves it.
  private func makeFile() throws -> (directory: String, keys: String) {
    let (state, keys) = (directory + "/state", directory + "/keys")
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

  @Test func `a systemd service uses its encrypted file`() throws {
    let (state, keys) = try makeFile()
    let (status, lines) = try run(
      ["STATE_DIRECTORY": state, "CREDENTIALS_DIRECTORY": keys],
      by: ["setsid", "--wait", "env", "--chdir=/"])
    expectTheFile(status, lines)
  }

  /// Mounts a writable volume in a read-only root.
  @Test(.withMountNamespaces)
  func `a container uses its encrypted file`() throws {
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

  /// Imitates a remote login with a bus that has nothing on it.
  ///
  /// The program doesn't ask a keyring.
  @Test func `a remote shell uses its encrypted file`() throws {
    let (state, keys) = try makeFile()
    let (status, lines) = try run([
      "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "SSH_CONNECTION": "::1 50000 ::1 22",
      "STATE_DIRECTORY": state, "HEADLESS_SERVICE_KEY_FILE": keys + "/secrets-key",
    ])
    expectTheFile(status, lines)
  }

  /// Sets a variable to another token, which doesn't replace the one in the file.
  @Test func `a file with another key is not passed over`() throws {
    let (state, keys) = try makeFile()
    try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: keys + "/secrets-key"))
    let (status, lines) = try run([
      "STATE_DIRECTORY": state, "CREDENTIALS_DIRECTORY": keys,
      "HEADLESS_SERVICE_AUTH_TOKEN": "another",
    ])
    #expect(status == 1 && lines.count == 1)
    #expect(lines.first?.contains("(wrongKey)") == true)
  }

  /// Imitates a start by hand, as another user than the service.
  ///
  /// This user can't see whose token is in the file.
  @Test(.enabled(if: geteuid() == 0, "only root can start it as another user"))
  func `a file of another user is not passed over`() throws {
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

  /// Imitates `sudo --user`, with the bus of the user who called it.
  @Test(
    .withOwnKeyring,
    .enabled(if: geteuid() == 0, "only root can start it as another user"))
  func `another user cannot use the bus of the first user`() throws {
    let bus = try PrivateBus()
    // systemd makes /run/user/1000 with these permissions.
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

  /// Imitates a snap without the interface password-manager-service, whose bus blocks all messages.
  ///
  /// Outside of a sandbox, the keyring itself denies access, and it may have the token.
  @Test(.withOwnKeyring, arguments: [true, false])
  func `a denied keyring is passed over only in a sandbox`(isSandboxed: Bool) throws {
    let (bus, service) = try PrivateBus.with { try FakeService(on: $0) }
    try service.fault("OpenSession", .error("org.freedesktop.DBus.Error.AccessDenied"))
    var variables = [
      "DBUS_SESSION_BUS_ADDRESS": bus.address, "HEADLESS_SERVICE_AUTH_TOKEN": "s3cret",
    ]
    if isSandboxed { variables["SNAP"] = directory }
    let (status, lines) = try run(variables)
    if isSandboxed {
      #expect(status == 0)
      #expect(lines.first?.hasSuffix("SecretServiceStorage has noStorage") == true)
    } else {
      #expect(status == 1 && lines.count == 1)
      #expect(lines.first?.contains("(accessDenied)") == true)
    }
  }

  /// Imitates a remote login, with the bus of the user's systemd.
  ///
  /// No login has unlocked the keyring.
  @Test(.withOwnKeyring) func `a remote shell fails if the keyring is locked`() throws {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    defer { _ = keyring }
    try bus.storage().setPassword(
      "s3cret", for: .password(service: "org.example.HeadlessService", account: "authToken"))
    let variables = [
      "DBUS_SESSION_BUS_ADDRESS": bus.address, "SSH_CONNECTION": "::1 50000 ::1 22",
      "SSH_TTY": "/dev/pts/0", "TERM": "xterm", "HOME": "/tmp",
      // The program doesn't fall back on this while the keyring is there.
      "HEADLESS_SERVICE_AUTH_TOKEN": "another",
    ]
    try bus.storage().lock()
    let (status, lines) = try run(variables)
    #expect(status == 1)
    #expect(lines.first?.hasPrefix("storage: SecretServiceStorage, as") == true)
    let failure = lines.last ?? ""
    #expect(failure.contains("read failed (locked). The keyring is locked. Unlock it with"))
    #expect(lines.count == 2)
  }

  /// Expects that the next run doesn't look elsewhere for a token from a keyring that is gone.
  @Test(.withOwnKeyring) func `a missing keyring of an earlier run is an error`() throws {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    try bus.storage().setPassword(
      "s3cret", for: .password(service: "org.example.HeadlessService", account: "authToken"))
    let home = directory + "/home"
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
    let variables = [
      "DBUS_SESSION_BUS_ADDRESS": bus.address, "HEADLESS_SERVICE_AUTH_TOKEN": "another",
      "HOME": home,
    ]
    #expect(try run(variables).lines.suffix(2) == ["token: 6 characters", "writing: done"])
    let selection = home + "/.local/state/swift-keyring/org.example.HeadlessService.selection"
    #expect(try String(contentsOfFile: selection, encoding: .utf8) == "SecretServiceStorage\n")
    try keyring.kill()
    let (status, lines) = try run(variables)
    #expect(status == 1 && lines.count == 1)
    #expect(
      lines.first?.hasPrefix("failure: SecretServiceStorage: read failed (selectedStorageMissing)")
        == true)
    #expect(lines.first?.contains("remove \(selection).") == true)
  }

  /// Imitates `sudo --preserve-env`, with the bus of the user who called it.
  @Test(
    .withOwnKeyring,
    .enabled(if: geteuid() == 0, "only root can be root with another user's bus address"))
  func `root cannot use the bus of another user`() throws {
    let bus = try PrivateBus(user: "nobody")
    let (status, lines) = try run([
      "DBUS_SESSION_BUS_ADDRESS": bus.address, "SUDO_USER": "nobody", "SUDO_UID": "65534",
      "HOME": "/root",
    ])
    #expect(status == 1 && lines.last?.contains("noStorage") == true)
    let diagnosis = bus.storage().diagnose()
    #expect(diagnosis.failure?.code == .noSessionBus)
    #expect("\(diagnosis)".contains("belongs to user 65534."), "\(diagnosis)")
    StorageUse.read.expectFailure(
      .noSessionBus, bus.storage(), cause: "belongs to user 65534.",
      recoverySuggestion: "Run the program as that user, for example without sudo")
    // Others can't even look for the socket of a bus in a user's directory.
    let directory = NSTemporaryDirectory() + UUID().uuidString
    try #require(mkdir(directory, 0o700) == 0)
    defer { rmdir(directory) }
    let (_, others) = try run(
      ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(directory)/bus"],
      by: ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
    #expect(others.last?.contains("belongs to user 0.") == true, "\(others)")
    // A bus works for the user to whom it belongs.
    let other = try PrivateBus()
    #expect(other.storage().diagnose().failure?.code == .noProvider)
  }
}
#endif
