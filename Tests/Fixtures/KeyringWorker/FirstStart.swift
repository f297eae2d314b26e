// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Keyring
import KeyringStorage

/// The first start of a program that generates its keys, in each way that the articles show.
///
/// The program says that it's ready, and begins after a line of input. It then prints the keys that it uses.
struct FirstStart {
  struct Session: Codable, Equatable { var name: String }

  /// The properties of an app that declares how to generate their values.
  struct GeneratingSettings {
    @Password<String?> var key: String?
    @SecureValue<Session, Session?> var session: Session?

    init(_ service: String, _ name: String) {
      _key = Password("key", orGenerate: name, service: service)
      _session = SecureValue("session", orGenerate: Session(name: name), service: service)
    }
  }

  let storage: any SecureStorage
  let service: String
  let name: String

  func run() throws {
    tell("ready")
    if readLine() == nil { return }
    let way = Int(name.filter(\.isNumber)) ?? 0
    let found =
      switch way % 3 {
      case 0: try generate()
      case 1: try waitForTask { try await generateWithoutBlocking() }
      default: try useDeclarations()
      }
    tell(found.joined(separator: " "))
  }

  private var key: ItemKey { .password(service: service, account: "key") }
  private var account: ItemKey { .credentials(service: service, label: "account") }
  private var session: ItemKey { .value(service: service, account: "session") }

  private func generate() throws -> [String] {
    [
      try storage[key].readOrStore { name },
      try storage[account, as: .credential].readOrStore { Credential(login: name, password: name) }
        .joined,
      try storage[session, as: .value(Session.self)].readOrStore { Session(name: name) }.name,
    ]
  }

  private func generateWithoutBlocking() async throws -> [String] {
    [
      try await storage[key].readOrStore { name },
      try await storage[account, as: .credential].readOrStore {
        Credential(login: name, password: name)
      }.joined,
      try await storage[session, as: .value(Session.self)].readOrStore { Session(name: name) }.name,
    ]
  }

  private func useDeclarations() throws -> [String] {
    let settings = GeneratingSettings(service, name)
    return try withSecureStorage(storage) { () throws(SecureStorageError) in
      let account = try storage[account, as: .credential].readOrStore {
        Credential(login: name, password: name)
      }
      let found = [settings.key, account.joined, settings.session?.name]
      if let failure = settings.$key.failure ?? settings.$session.failure { throw failure }
      return found.map { $0 ?? "nothing" }
    }
  }
}

extension Credential {
  fileprivate var joined: String { "\(login)/\(password)" }
}
#endif
