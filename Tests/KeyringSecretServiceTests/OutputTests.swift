// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

/// A program that keeps a secret in the keyring, while everything that can log does so.
///
/// Its output, its arguments, its environment and its files never show the secret.
@Suite struct OutputTests {
  static let canary = "canary-never-to-be-seen-anywhere"

  @Test(.inPrivateSession) func `no output and no file shows the secret`() async throws {
    let home = Self.home(ofChildOf: getpid())
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: home) } }

    let program = try #require(
      await #expect(
        processExitsWith: .success,
        observing: [\.standardOutputContent, \.standardErrorContent]
      ) {
        try Self.beTalkative(at: Self.home(ofChildOf: getppid()))
        try await Self.useTheKeyring()
        try Self.showProcess()
      })
    let output = String(decoding: program.standardOutputContent, as: UTF8.self)
    let complaints = String(decoding: program.standardErrorContent, as: UTF8.self)
    // The program did log. GDBus logged each message, and this package logged the errors.
    #expect(output.contains("member -> 'GetSecrets'"))
    #expect(complaints.contains("secure property"))
    #expect(output.contains("Undecodable") || output.contains("undecodable"))
    #expect(!Self.shows(output))
    #expect(!Self.shows(complaints))
    for file in try FileManager.default.subpathsOfDirectory(atPath: home.path) {
      #expect(!Self.shows(file))
      let content = FileManager.default.contents(atPath: home.appending(path: file).path)
      #expect(!Self.shows(String(decoding: content ?? Data(), as: UTF8.self)), "\(file)")
    }
  }

  @Test func `the check finds a secret as text, as numbers and in base64`() {
    let bytes = Data(Self.canary.utf8)
    let hexadecimal = bytes.map { String($0, radix: 16) }
    #expect(Self.shows("… \(Self.canary) …"))
    #expect(Self.shows("[0x" + hexadecimal.joined(separator: ", 0x") + "]"))
    #expect(Self.shows(hexadecimal.joined().uppercased()))
    #expect(Self.shows("\(Array(bytes))"))
    for offset in 0..<3 {
      #expect(Self.shows((Data(repeating: 7, count: offset) + bytes).base64EncodedString()))
    }
    #expect(!Self.shows("canary"))
  }

  // MARK: - The program

  private static func home(ofChildOf process: pid_t) -> URL {
    FileManager.default.temporaryDirectory.appending(path: "swift-keyring-output-\(process)")
  }

  /// Makes GLib log everything, and directs files that have no other place to a directory.
  private static func beTalkative(at home: URL) throws {
    for name in ["HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
      setenv(name, home.path, 1)
    }
    setenv("G_MESSAGES_DEBUG", "all", 1)
    setenv("G_DBUS_DEBUG", "all", 1)
    try #require(chdir(home.path) == 0)
  }

  private static func useTheKeyring() async throws {
    let storage = SecretServiceStorage(collection: Provider.current.fastestCollection)
    let service = storage.service(PrivateSession.newService())
    let settings = Settings(service: service.service, storage: storage)
    for secret in [canary, canary + canary] {
      settings.password = secret
      settings.account = Credential(login: "ada", password: secret)
      settings.token = Token(text: secret)
      try await settings.$gitPassword.write(secret)
      try #require(settings.password == secret)
      try #require(settings.account?.password == secret)
      try #require(settings.token?.text == secret)
      try #require(try await settings.$gitPassword.read() == secret)
    }
    try #require(settings.failures.isEmpty)
    try makeMistakes(service, settings)
    settings.gitPassword = nil
    try #require(try await service.removeAll().count == 3)
    dump(settings)
  }

  /// Causes each error that has something to say, and prints it.
  private static func makeMistakes(_ service: ServiceScope, _ settings: Settings) throws {
    let key = ItemKey.value(service: service.service, account: "token")
    let secret = Secret(canary)
    let nowhere = SecretServiceStorage(options: .init(busAddress: "unix:path=/nonexistent"))
    let huge = String(repeating: canary, count: ItemLimits.secretBytes / canary.utf8.count + 1)
    try service.storage[key, as: .secret].write(Secret(bytes: Array(canary.utf8) + [0xFF]))
    let mistakes: [() throws -> Void] = [
      { try service.password("password").write(canary, mode: .add) },
      { try service.password("missing").write(canary, mode: .update) },
      { try service.password("password").write(huge) },
      { try service.password("").write(canary) },
      { _ = try service.storage.password(for: key) },
      { _ = try service.value("token", as: Token.self).read() },
      { try nowhere[key, as: .secret].write(secret) },
    ]
    for mistake in mistakes {
      let error = #expect(throws: SecureStorageError.self, performing: mistake)
      print(error as Any, error?.errorDescription ?? "", String(reflecting: error))
      dump(error)
    }
    // Without a handler, a failure is reported in a line on standard error.
    Settings(service: service.service, storage: nowhere).password = canary
    dump(settings.token)
  }

  /// Prints the parts of the process that the system shows to others.
  private static func showProcess() throws {
    for file in ["cmdline", "environ"] {
      let content = try #require(FileManager.default.contents(atPath: "/proc/self/\(file)"))
      print(String(decoding: content, as: UTF8.self))
    }
  }

  private struct Settings {
    @Password var password: String?
    @Credentials var account: Credential?
    @SecureValue<Token, Token?> var token: Token?
    @InternetPassword var gitPassword: String?

    init(service: String, storage: SecretServiceStorage) {
      _password = Password("password", service: service, storage: storage)
      _account = Credentials("account", service: service, storage: storage)
      _token = SecureValue("token", service: service, storage: storage)
      _gitPassword = InternetPassword(server: "\(service).example.org", storage: storage)
    }

    var failures: [SecureStorageError] {
      [$password.failure, $account.failure, $token.failure, $gitPassword.failure]
        .compactMap(\.self)
    }
  }

  // MARK: - The check

  /// Returns `true` if a text contains the secret as it is, as numbers of its bytes, or in base64.
  private static func shows(_ text: String) -> Bool {
    let bytes = Data(canary.utf8)
    if text.contains(canary) { return true }
    if text.contains(bytes.map { "\($0)" }.joined(separator: ", ")) { return true }
    let digits = text.lowercased().replacingOccurrences(of: "0x", with: "").filter(\.isHexDigit)
    if digits.contains(bytes.map { String($0, radix: 16) }.joined()) { return true }
    return (0..<3).contains { offset in
      // Only these digits don't depend on the bytes before and after the secret.
      let encoded = (Data(count: offset) + bytes).base64EncodedString()
      return text.contains(encoded.dropFirst(4).prefix(bytes.count * 4 / 3 - 4))
    }
  }
}
#endif
