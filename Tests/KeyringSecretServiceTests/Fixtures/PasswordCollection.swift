// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import Testing

@testable import KeyringSecretService

/// A collection with a password, made and unlocked without a prompt.
///
/// The prompts of gnome-keyring need a screen. It has methods without prompts for its own tools.
struct PasswordCollection {
  let label: String
  private let path: ObjectPath
  private let password: String
  private let address: String?
  static let password = "the password of a test's collection"
  private static let interface: DBusName =
    "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"

  /// Makes the collection, which gnome-keyring keeps in a text file if it has no password.
  ///
  /// By default, the bus is that of the private session.
  init(
    label: String = PrivateSession.newService(), password: String = Self.password,
    on bus: PrivateBus? = nil
  ) throws {
    self.password = password
    address = bus?.address
    self.label = label
    let properties: Variant = .properties([
      "org.freedesktop.Secret.Collection.Label": .string(label)
    ])
    let answer = try Self.call(
      "CreateWithMasterPassword", properties, [password], answer: "(o)", at: address)
    path = ObjectPath(answer.child(0).text)
  }

  /// Runs a closure with a collection, which is deleted afterwards, and with a storage that is in it.
  static func whileThere(
    for interaction: SecretServiceStorage.Interaction = .never,
    _ body: (PasswordCollection, SecretServiceStorage) throws -> Void
  ) throws {
    let collection = try PasswordCollection()
    let outcome = Result {
      try body(
        collection,
        SecretServiceStorage(collection: .named(collection.label), interaction: interaction))
    }
    try collection.delete()
    try outcome.get()
  }

  func unlock() throws {
    _ = try Self.call(
      "UnlockWithMasterPassword", .objectPath(path), [password], answer: "()", at: address)
  }

  /// Changes the password, and the file with it.
  func change(from old: String, to new: String) throws {
    _ = try Self.call(
      "ChangeWithMasterPassword", .objectPath(path), [old, new], answer: "()", at: address)
  }

  func makeDefault() throws {
    _ = try Self.send(
      MethodCall(
        Self.service, "org.freedesktop.Secret.Service", "SetAlias",
        [.string("default"), .objectPath(path)], answer: "()"), openSession(at: address))
  }

  func delete() throws {
    _ = try Self.send(.delete(collection: path), openSession(at: address))
  }

  private static let service = ObjectPath("/org/freedesktop/secrets")

  private static func call(
    _ method: DBusName, _ argument: Variant, _ passwords: [String], answer: StaticString,
    at address: String?
  ) throws -> Variant {
    let session = try openSession(at: address)
    let secrets = try passwords.map { try #require(session.encode(Secret($0))) }
    return try send(
      MethodCall(service, interface, method, [argument] + secrets, answer: answer), session)
  }

  private static func send(_ message: MethodCall, _ session: SecretSession) throws -> Variant {
    let results = try session.send([message], until: Deadline(after: .seconds(25)))
    return try #require(results.first).get()
  }
}
#endif
