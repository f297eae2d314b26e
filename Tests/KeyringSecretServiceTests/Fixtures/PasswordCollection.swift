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
  private static let interface = DBusName(KeyringSecretService.Provider.passwordInterface)

  /// Makes the collection, which gnome-keyring keeps in a text file if it has no password.
  ///
  /// By default, the bus is that of the private session.
  init(
    label: String = PrivateSession.newService(), password: String = Self.password,
    on bus: PrivateBus? = nil
  ) throws {
    (self.label, self.password, address) = (label, password, bus?.address)
    let session = try openSession(at: bus?.address)
    let creation = MethodCall.createCollection(
      labeled: label, password: try session.encoded(password))
    path = ObjectPath(try session.ask(creation).child(0).text)
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
    let session = try openSession(at: address)
    try session.ask(.unlock(path, password: session.encoded(password)))
  }

  /// Changes the password, and the file with it.
  func change(from old: String, to new: String) throws {
    let session = try openSession(at: address)
    let change = MethodCall(
      ObjectPath("/org/freedesktop/secrets"), Self.interface, "ChangeWithMasterPassword",
      [.objectPath(path), try session.encoded(old), try session.encoded(new)], answer: "()")
    try session.ask(change)
  }

  func makeDefault() throws { try openSession(at: address).ask(.setAlias("default", to: path)) }

  func delete() throws { try openSession(at: address).ask(.delete(collection: path)) }
}
#endif
