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
  static let password = "the password of a test's collection"
  private static let interface = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"

  /// Makes the collection, which gnome-keyring keeps in a text file if it has no password.
  init(label: String = PrivateSession.newService(), password: String = Self.password) throws {
    self.password = password
    self.label = label
    let properties: Variant = .properties([
      "org.freedesktop.Secret.Collection.Label": .string(label)
    ])
    let answer = try Self.call(
      "CreateWithMasterPassword", properties, password, answer: "(o)")
    path = ObjectPath(answer.child(0).text)
  }

  func unlock() throws {
    _ = try Self.call("UnlockWithMasterPassword", .objectPath(path), password, answer: "()")
  }

  func delete() throws {
    let session = try openSession()
    _ = try Self.send(
      MethodCall(path, "org.freedesktop.Secret.Collection", "Delete", [], answer: "(o)"), session)
  }

  private static func call(
    _ method: String, _ argument: Variant, _ password: String, answer: String
  ) throws -> Variant {
    let session = try openSession()
    let secret = try #require(session.encode(Secret(password)))
    return try send(
      MethodCall(
        ObjectPath("/org/freedesktop/secrets"), interface, method, [argument, secret],
        answer: answer), session)
  }

  private static func send(_ message: MethodCall, _ session: SecretSession) throws -> Variant {
    let results = try session.send([message], until: Deadline(after: .seconds(25)))
    return try #require(results.first).get()
  }
}
#endif
