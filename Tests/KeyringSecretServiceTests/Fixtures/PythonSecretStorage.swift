// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

/// The Python package secretstorage, in Debian's version, which shares no code with libsecret.
struct PythonSecretStorage: OtherProgram {
  /// One item, as this client sees it.
  struct Item: Equatable, Decodable {
    var label: String
    var secret: Data
    var attributes: [String: String]

    init(label: String, secret: String, attributes: [String: String]) {
      (self.label, self.secret, self.attributes) = (label, Data(secret.utf8), attributes)
    }

    var text: String { String(decoding: secret, as: UTF8.self) }

    /// The item without its schema.
    ///
    /// gnome-keyring 42.1 adds a schema to an item made without one, but not always at once.
    var withoutSchema: Item {
      var item = self
      item.attributes["xdg:schema"] = nil
      return item
    }
  }

  /// A task for the script, with its data, which the script reads from standard input.
  private struct Request: Encodable {
    let action: String
    let attributes: [String: String]
    var label = ""
    var secret = Data()
    var type = "text/plain"
    // This isn't the alias, by which gnome-keyring 42 doesn't always find the collection.
    var collection = Provider.current.defaultCollection
  }

  /// The code that prepares secretstorage for a slow machine and for the keyring.
  ///
  /// jeepney 0.8 gives the bus one second to authenticate it, which a busy machine exceeds.
  ///
  /// KWallet 5.103 can't use the keys of about one session in 256, and secretstorage 3.3.3 doesn't
  /// notice. If KWallet doesn't know the method of encryption, secretstorage uses none.
  static let prelude =
    "import jeepney.io.blocking as jeepney\n"
    + "jeepney.open_dbus_connection.__defaults__ = ('SESSION', False, 60)\n"
    + (Provider.current == .kwallet
      ? "import secretstorage.util; secretstorage.util.ALGORITHM_DH = 'none'\n" : "")

  private static let script = """
    import base64, json, sys
    import secretstorage

    request = json.load(sys.stdin)
    action, secret = request["action"], base64.b64decode(request["secret"])
    collection = secretstorage.Collection(
      secretstorage.dbus_init(), "/org/freedesktop/secrets/collection/" + request["collection"])
    if action == "create":
      collection.create_item(request["label"], request["attributes"], secret, True, request["type"])
    found = list(collection.search_items(request["attributes"]))
    if action == "change":
      for item in found: item.set_secret(secret)
    answer = [{
      "label": item.get_label(), "attributes": item.get_attributes(),
      "secret": base64.b64encode(item.get_secret()).decode(),
    } for item in found]
    if action == "delete":
      for item in found: item.delete()
    json.dump(answer, sys.stdout)
    """

  @discardableResult
  private static func perform(_ request: Request) throws -> [Item] {
    let (status, output) = try Program("/usr/bin/python3", ["-I", "-c", prelude + script])
      .finish(input: JSONEncoder().encode(request))
    try #require(status == 0)
    var items = try JSONDecoder().decode([Item].self, from: output)
    for name in Provider.current.addedAttributes {
      for index in items.indices { items[index].attributes[name] = nil }
    }
    return items
  }

  /// Finds all items with these attributes, the last changed first.
  ///
  /// The items don't show the attributes that the keyring adds.
  static func items(_ attributes: [String: String]) throws -> [Item] {
    try perform(Request(action: "find", attributes: attributes))
  }

  /// Stores an item, and replaces one that the keyring takes for the same item.
  static func create(
    _ secret: Data, type: String = "text/plain", label: String, _ attributes: [String: String]
  ) throws {
    try perform(
      Request(action: "create", attributes: attributes, label: label, secret: secret, type: type))
  }

  /// Changes the secret of the items that have these attributes.
  static func change(_ attributes: [String: String], to secret: String) throws {
    try perform(Request(action: "change", attributes: attributes, secret: Data(secret.utf8)))
  }

  func set(_ password: String, service: String, username: String) throws {
    try Self.create(
      Data(password.utf8), label: "Theirs", ["service": service, "username": username])
  }

  func get(service: String, username: String) throws -> String? {
    try Self.items(["service": service, "username": username]).first?.text
  }

  func remove(service: String, username: String) throws {
    try Self.perform(
      Request(action: "delete", attributes: ["service": service, "username": username]))
  }
}
#endif
