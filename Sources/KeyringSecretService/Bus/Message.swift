#if SecretService && os(Linux)
internal import KeyringStorage

/// A method call of the Secret Service, named and typed as in its specification; or one of the bus.
///
/// See <https://specifications.freedesktop.org/secret-service-spec/latest/>.
struct Message {
  /// The name of who is to do it; `nil` for the provider.
  var receiver: String?
  let object: ObjectPath
  let interface: String
  let method: String
  let arguments: Variant
  /// The type of the answer; an answer of another type is an error.
  let answer: String

  init(
    _ object: ObjectPath, _ interface: String, _ method: String, _ arguments: [Variant],
    answer: String
  ) {
    self.object = object
    self.interface = interface
    self.method = method
    self.arguments = .tuple(arguments)
    self.answer = answer
  }
}

// MARK: - Service

extension Message {
  /// Whether the message is for the service itself, which is always there.
  var isForService: Bool { object == Self.service }

  /// Whether the message names items whose secrets it wants.
  var readsSecrets: Bool { isForService && method == Self.getSecrets }
}

extension Message {
  private static let service = ObjectPath("/org/freedesktop/secrets")
  static let serviceInterface = "org.freedesktop.Secret.Service"
  private static let getSecrets = "GetSecrets"

  /// Answers with the secrets of the items that are there and unlocked.
  static func getSecrets(_ items: [ObjectPath], session: ObjectPath) -> Message {
    Message(
      service, serviceInterface, getSecrets, [.objectPaths(items), .objectPath(session)],
      answer: "(a{o(oayays)})")
  }

  /// Answers with the collection that an alias stands for.
  static func readAlias(_ name: String) -> Message {
    Message(service, serviceInterface, "ReadAlias", [.string(name)], answer: "(o)")
  }

  /// Answers with what was unlocked at once, and a prompt for the rest.
  static func unlock(_ objects: [ObjectPath]) -> Message {
    Message(service, serviceInterface, "Unlock", [.objectPaths(objects)], answer: "(aoo)")
  }

  /// Answers with what was locked at once, and a prompt for the rest.
  static func lock(_ objects: [ObjectPath]) -> Message {
    Message(service, serviceInterface, "Lock", [.objectPaths(objects)], answer: "(aoo)")
  }

  /// Answers with the new collection, or "/" and a prompt.
  static func createCollection(labeled label: String, aliased alias: String) -> Message {
    let properties: Variant = .properties(["\(collectionInterface).Label": .string(label)])
    return Message(
      service, serviceInterface, "CreateCollection", [properties, .string(alias)], answer: "(oo)")
  }

  /// Answers with the paths of all collections.
  static func collections() -> Message {
    property("Collections", of: service, serviceInterface)
  }
}

// MARK: - Collection and item

extension Message {
  static let collectionInterface = "org.freedesktop.Secret.Collection"
  private static let itemInterface = "org.freedesktop.Secret.Item"
  private static let searchItems = "SearchItems"
  private static let setSecret = "SetSecret"
  private static let attributes = "Attributes"

  /// Tells a search of a collection from other messages.
  var isSearch: Bool { interface == Self.collectionInterface && method == Self.searchItems }

  /// Answers with the items of a collection, locked or not, that have all these attributes.
  static func searchItems(
    in collection: ObjectPath, _ attributes: [String: String]
  ) -> Message {
    Message(
      collection, collectionInterface, searchItems, [.strings(attributes)], answer: "(ao)")
  }

  /// Answers with the new item, or "/" and a prompt.
  ///
  /// An item that is replaced is one with all these attributes, and maybe more.
  static func createItem(
    in collection: ObjectPath, attributes: [String: String], label: String, secret: Variant,
    replacing: Bool
  ) -> Message {
    let properties: [String: Variant] = [
      "\(itemInterface).Label": .string(label),
      "\(itemInterface).Attributes": .strings(attributes),
    ]
    return Message(
      collection, collectionInterface, "CreateItem",
      [.properties(properties), secret, .boolean(replacing)], answer: "(oo)")
  }

  /// Replaces the secret of an item and leaves the rest of it alone.
  static func setSecret(_ secret: Variant, of item: ObjectPath) -> Message {
    Message(item, itemInterface, setSecret, [secret], answer: "()")
  }

  /// Answers with a prompt, or "/" when the item is gone already.
  static func delete(_ item: ObjectPath) -> Message {
    Message(item, itemInterface, "Delete", [], answer: "(o)")
  }

  /// Answers with a prompt, or "/" when the collection is gone already.
  static func delete(collection: ObjectPath) -> Message {
    Message(collection, collectionInterface, "Delete", [], answer: "(o)")
  }

  /// Answers with the paths of all items.
  static func items(of collection: ObjectPath) -> Message {
    property("Items", of: collection, collectionInterface)
  }

  static func label(ofCollection collection: ObjectPath) -> Message {
    property("Label", of: collection, collectionInterface)
  }

  static func label(ofItem item: ObjectPath) -> Message {
    property("Label", of: item, itemInterface)
  }

  static func attributes(ofItem item: ObjectPath) -> Message {
    property(attributes, of: item, itemInterface)
  }

  static func isLocked(_ collection: ObjectPath) -> Message {
    property("Locked", of: collection, collectionInterface)
  }

  static func properties(of item: ObjectPath) -> Message {
    Message(
      item, propertiesInterface, "GetAll", [.string(itemInterface)], answer: "(a{sv})")
  }

  static func setLabel(_ label: String, of item: ObjectPath) -> Message {
    setProperty("Label", to: .string(label), of: item)
  }

  /// The signal of ours that tells of the change, where a provider keeps silent about it.
  var silentChange: Provider.SilentChange? {
    if interface == Self.itemInterface, method == Self.setSecret { return .secret }
    guard interface == Self.propertiesInterface, method == Self.set else { return nil }
    return arguments.child(1).text == Self.attributes ? .attributes : nil
  }

  static func setAttributes(_ attributes: [String: String], of item: ObjectPath) -> Message {
    setProperty(Self.attributes, to: .strings(attributes), of: item)
  }
}

// MARK: - Prompt

extension Message {
  static let promptInterface = "org.freedesktop.Secret.Prompt"

  /// Puts a prompt in front of the user; its end is told by the signal Completed.
  static func show(prompt: ObjectPath) -> Message {
    Message(prompt, promptInterface, "Prompt", [.string("")], answer: "()")
  }
}

// MARK: - Bus

extension Message {
  static let bus = "org.freedesktop.DBus"

  /// The name that a provider owns on the bus.
  static let secrets = "org.freedesktop.secrets"

  /// Answers with the unique name of who owns a name on the bus.
  static func owner(of name: String) -> Message {
    var message = Message(
      ObjectPath("/org/freedesktop/DBus"), bus, "GetNameOwner", [.string(name)], answer: "(s)")
    message.receiver = bus
    return message
  }

  /// Has the bus start the program that provides a name, if it knows one.
  static func start(_ name: String) -> Message {
    var message = Message(
      ObjectPath("/org/freedesktop/DBus"), bus, "StartServiceByName",
      [.string(name), .unsigned32(0)], answer: "(u)")
    message.receiver = bus
    return message
  }
}

// MARK: - Properties of any object

extension Message {
  private static let propertiesInterface = "org.freedesktop.DBus.Properties"
  private static let set = "Set"

  private static func property(
    _ name: String, of object: ObjectPath, _ interface: String
  ) -> Message {
    Message(
      object, propertiesInterface, "Get", [.string(interface), .string(name)], answer: "(v)")
  }

  private static func setProperty(
    _ name: String, to value: Variant, of item: ObjectPath
  ) -> Message {
    Message(
      item, propertiesInterface, set, [.string(itemInterface), .string(name), value.boxed],
      answer: "()")
  }
}
#endif
