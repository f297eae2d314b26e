// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

/// A method call of the Secret Service or of the bus.
///
/// The names and types of the Secret Service are those of its specification. See
/// <https://specifications.freedesktop.org/secret-service-spec/latest/>.
final class MethodCall: Sendable {
  /// The bus name of the receiver, or `nil` for the provider.
  let receiver: String?
  let object: ObjectPath
  let interface: DBusName
  let method: DBusName
  /// The arguments, or `nil` for none.
  let arguments: Variant?
  /// The type of the answer; an answer of another type is an error.
  let answer: StaticString

  init(
    _ object: ObjectPath, _ interface: DBusName, _ method: DBusName, arguments: Variant?,
    answer: StaticString, to receiver: String? = nil
  ) {
    self.receiver = receiver
    self.object = object
    self.interface = interface
    self.method = method
    self.arguments = arguments
    self.answer = answer
  }

  // Not inlined: dozens of places use it, and each would contain its code.
  @inline(never)
  convenience init(
    _ object: ObjectPath, _ interface: DBusName, _ method: DBusName, _ arguments: [Variant],
    answer: StaticString, to receiver: String? = nil
  ) {
    self.init(
      object, interface, method, arguments: arguments.isEmpty ? nil : .tuple(arguments),
      answer: answer, to: receiver)
  }
}

// MARK: - Service

extension MethodCall {
  /// `true` for a message to the service itself, which always exists.
  var isForService: Bool { object == Self.service }

  /// `true` for a request for secrets of items.
  var readsSecrets: Bool { isForService && method == Self.getSecrets }
}

extension MethodCall {
  private static let service = ObjectPath("/org/freedesktop/secrets")
  static let serviceInterface: DBusName = "org.freedesktop.Secret.Service"
  private static let getSecrets: DBusName = "GetSecrets"

  /// Returns a call that requests the secrets of those items that exist and are unlocked.
  static func getSecrets(_ items: [ObjectPath], session: ObjectPath) -> MethodCall {
    MethodCall(
      service, serviceInterface, getSecrets, [.objectPaths(items), .objectPath(session)],
      answer: "(a{o(oayays)})")
  }

  /// Returns a call that requests the collection that an alias stands for.
  static func readAlias(_ name: String) -> MethodCall {
    MethodCall(service, serviceInterface, "ReadAlias", [.string(name)], answer: "(o)")
  }

  /// Returns a call that unlocks objects.
  ///
  /// The answer contains the objects that were unlocked at once, and a prompt for the rest.
  static func unlock(_ objects: [ObjectPath]) -> MethodCall {
    MethodCall(service, serviceInterface, "Unlock", [.objectPaths(objects)], answer: "(aoo)")
  }

  /// Returns a call that locks objects.
  ///
  /// The answer contains the objects that were locked at once, and a prompt for the rest.
  static func lock(_ objects: [ObjectPath]) -> MethodCall {
    MethodCall(service, serviceInterface, "Lock", [.objectPaths(objects)], answer: "(aoo)")
  }

  /// Returns a call that creates a collection.
  ///
  /// The answer contains the new collection, or "/" and a prompt.
  static func createCollection(labeled label: String, aliased alias: String) -> MethodCall {
    let properties: Variant = .properties(["\(collectionInterface.text).Label": .string(label)])
    return MethodCall(
      service, serviceInterface, "CreateCollection", [properties, .string(alias)], answer: "(oo)")
  }

  /// Returns a call that makes an alias stand for a collection.
  static func setAlias(_ name: String, to collection: ObjectPath) -> MethodCall {
    MethodCall(
      service, serviceInterface, "SetAlias", [.string(name), .objectPath(collection)],
      answer: "()")
  }

  /// Returns a call that requests the interfaces of the service.
  static func introspection() -> MethodCall {
    MethodCall(
      service, "org.freedesktop.DBus.Introspectable", "Introspect", [], answer: "(s)")
  }

  /// Returns a call that finds the items of all collections, locked and unlocked ones.
  static func searchAllItems() -> MethodCall {
    MethodCall(service, serviceInterface, searchItems, [.strings([:])], answer: "(aoao)")
  }

  /// Returns a call that requests the paths of all collections.
  static func collections() -> MethodCall {
    property("Collections", of: service, serviceInterface)
  }
}

// MARK: - Passwords

extension MethodCall {
  private static let passwordInterface = DBusName(Provider.passwordInterface)

  /// Returns a call that unlocks a collection with its encrypted password.
  static func unlock(_ collection: ObjectPath, password: Variant) -> MethodCall {
    MethodCall(
      service, passwordInterface, "UnlockWithMasterPassword",
      [.objectPath(collection), password], answer: "()")
  }

  /// Returns a call that creates a collection with an encrypted password.
  ///
  /// The answer is the collection, which has no alias.
  static func createCollection(labeled label: String, password: Variant) -> MethodCall {
    MethodCall(
      service, passwordInterface, "CreateWithMasterPassword",
      [.properties(["\(collectionInterface.text).Label": .string(label)]), password], answer: "(o)")
  }
}

// MARK: - Collection and item

extension MethodCall {
  static let collectionInterface: DBusName = "org.freedesktop.Secret.Collection"
  private static let itemInterface: DBusName = "org.freedesktop.Secret.Item"
  private static let itemLabel = "\(itemInterface.text).Label"
  private static let itemAttributes = "\(itemInterface.text).Attributes"
  private static let searchItems: DBusName = "SearchItems"
  private static let createItem: DBusName = "CreateItem"
  private static let setSecret: DBusName = "SetSecret"
  private static let delete: DBusName = "Delete"
  private static let attributes: DBusName = "Attributes"
  private static let locked: DBusName = "Locked"
  private static let modified: DBusName = "Modified"

  /// `true` for a search in a collection.
  var isSearch: Bool { interface == Self.collectionInterface && method == Self.searchItems }

  /// Returns a call that finds the items of a collection, locked and unlocked ones, that have all these attributes.
  static func searchItems(
    in collection: ObjectPath, _ attributes: [String: String]
  ) -> MethodCall {
    // Some providers compare the attributes of each item in this order, until one differs. The private
    // attribute distinguishes fewer items than the account, so it comes last.
    var ordered = Array(attributes)
    _ = ordered.partition { AttributeName.isReserved($0.key) }
    return MethodCall(
      collection, collectionInterface, searchItems, [.strings(ordered)], answer: "(ao)")
  }

  /// Returns a call that creates an item.
  ///
  /// The answer contains the new item, or "/" and a prompt. The new item replaces one that has all these
  /// attributes, and maybe more.
  static func createItem(
    in collection: ObjectPath, attributes: [String: String], label: String, secret: Variant,
    replacing: Bool
  ) -> MethodCall {
    let properties: [String: Variant] = [
      itemLabel: .string(label), itemAttributes: .strings(attributes),
    ]
    return MethodCall(
      collection, collectionInterface, createItem,
      [.properties(properties), secret, .boolean(replacing)], answer: "(oo)")
  }

  /// Returns a call that replaces the secret of an item and leaves the rest of the item alone.
  static func setSecret(_ secret: Variant, of item: ObjectPath) -> MethodCall {
    MethodCall(item, itemInterface, setSecret, [secret], answer: "()")
  }

  /// Returns a call that deletes an item.
  ///
  /// The answer contains a prompt, or "/" after an immediate deletion.
  static func delete(_ item: ObjectPath) -> MethodCall {
    MethodCall(item, itemInterface, delete, [], answer: "(o)")
  }

  /// Returns a call that deletes a collection.
  ///
  /// The answer contains a prompt, or "/" after an immediate deletion.
  static func delete(collection: ObjectPath) -> MethodCall {
    MethodCall(collection, collectionInterface, delete, [], answer: "(o)")
  }

  /// Returns a call that requests the paths of all items.
  static func items(of collection: ObjectPath) -> MethodCall {
    property("Items", of: collection, collectionInterface)
  }

  static func label(ofCollection collection: ObjectPath) -> MethodCall {
    property("Label", of: collection, collectionInterface)
  }

  static func attributes(ofItem item: ObjectPath) -> MethodCall {
    property(attributes, of: item, itemInterface)
  }

  static func isLocked(_ collection: ObjectPath) -> MethodCall {
    property(locked, of: collection, collectionInterface)
  }

  static func modified(ofCollection collection: ObjectPath) -> MethodCall {
    property(modified, of: collection, collectionInterface)
  }

  static func properties(of item: ObjectPath) -> MethodCall {
    MethodCall(
      item, propertiesInterface, getAll, arguments: ofItems, answer: "(a{sv})")
  }

  private static let ofItems = Variant.tuple([itemInterface.value])

  /// Returns the calls that request the times at which a collection was created and changed.
  static func times(ofCollection collection: ObjectPath) -> [MethodCall] {
    [property("Created", of: collection, collectionInterface), modified(ofCollection: collection)]
  }

  static func setLabel(_ label: String, of item: ObjectPath) -> MethodCall {
    setProperty("Label", to: .string(label), of: item)
  }

  /// The change for which this package sends signals, because some provider sends none.
  var silentChange: Provider.SilentChange? {
    if interface == Self.itemInterface, method == Self.setSecret { return .secret }
    guard interface == Self.propertiesInterface, method == Self.set else { return nil }
    return arguments?.child(1).text == Self.attributes.text ? .attributes : nil
  }

  static func setAttributes(_ attributes: [String: String], of item: ObjectPath) -> MethodCall {
    setProperty(Self.attributes, to: .strings(attributes), of: item)
  }
}

// MARK: - Prompt

extension MethodCall {
  static let promptInterface: DBusName = "org.freedesktop.Secret.Prompt"

  /// Returns a call that shows a prompt to the user.
  ///
  /// The signal Completed reports the end of the prompt.
  static func show(prompt: ObjectPath) -> MethodCall {
    MethodCall(prompt, promptInterface, "Prompt", [.string("")], answer: "()")
  }
}

// MARK: - Bus

extension MethodCall {
  static let bus = "org.freedesktop.DBus"
  private static let busInterface = DBusName(bus)

  /// The name that a provider owns on the bus.
  static let secrets = "org.freedesktop.secrets"

  /// Returns a call that requests the unique name of the owner of a bus name.
  static func owner(of name: String) -> MethodCall {
    toBus("GetNameOwner", [.string(name)], answer: "(s)")
  }

  /// Returns a call that requests the process that owns a name.
  static func process(of name: String) -> MethodCall {
    toBus("GetConnectionUnixProcessID", [.string(name)], answer: "(u)")
  }

  /// Returns a call that makes the bus start the program that provides a name.
  static func start(_ name: String) -> MethodCall {
    toBus("StartServiceByName", [.string(name), .unsigned32(0)], answer: "(u)")
  }

  /// Returns a call that requests the names for which the bus can start a program.
  static func activatableNames() -> MethodCall { toBus("ListActivatableNames", [], answer: "(as)") }

  static func toBus(_ method: DBusName, _ arguments: [Variant], answer: StaticString) -> MethodCall
  {
    MethodCall(
      ObjectPath("/org/freedesktop/DBus"), busInterface, method, arguments, answer: answer, to: bus)
  }
}

// MARK: - Properties of any object

extension MethodCall {
  private static let propertiesInterface: DBusName = "org.freedesktop.DBus.Properties"
  private static let get: DBusName = "Get"
  private static let getAll: DBusName = "GetAll"
  private static let set: DBusName = "Set"

  static func property(
    _ name: DBusName, of object: ObjectPath, _ interface: DBusName, to receiver: String? = nil
  ) -> MethodCall {
    MethodCall(
      object, propertiesInterface, get, [interface.value, name.value], answer: "(v)", to: receiver)
  }

  private static func setProperty(
    _ name: DBusName, to value: Variant, of item: ObjectPath
  ) -> MethodCall {
    MethodCall(
      item, propertiesInterface, set, [itemInterface.value, name.value, value.boxed],
      answer: "()")
  }
}
#endif
