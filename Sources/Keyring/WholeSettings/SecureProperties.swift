public import KeyringStorage

/// All secure properties of a value: of a struct or class of settings, and of the settings in it.
///
/// ```swift
/// let properties = SecureProperties(of: settings)
/// try properties.removeAll()                      // log out
/// let values = try properties.readAll()           // one search and one fetch for all of them
/// let token = try values[settings.$authToken]
/// ```
///
/// They are found by reflection: the value needs no base class and no macro. Properties, and the
/// elements of optionals, arrays and dictionaries, are followed into structs, classes and enums.
public struct SecureProperties: Sendable {
  let members: [any SecurePropertyMember]

  /// Finds the secure properties of a value.
  ///
  /// - Parameter settings: The value.
  public init(of settings: Any) {
    var finder = PropertyFinder()
    finder.visit(settings)
    members = finder.members
  }

  /// How many there are.
  public var count: Int { members.count }

  /// Each property with its key, whether something is stored, and what is wrong with it.
  ///
  /// - Returns: The properties in the order in which they are declared. One that cannot be looked
  ///   at is not stored, and has the failure that says why.
  public func entries() -> [Entry] {
    members.map { member in
      do throws(SecureStorageError) {
        return Entry(
          name: member.name, key: member.key, isStored: try member.exists(), failure: member.failure
        )
      } catch {
        return Entry(
          name: member.name, key: member.key, isStored: false, failure: member.failure ?? error)
      }
    }
  }

  /// Reads all properties: those that have no storage of their own in one search and one fetch.
  ///
  /// - Returns: The values.
  /// - Throws: Any reason for not knowing one of them; only what a value decodes to is found out when
  ///   it is asked for.
  public func readAll() throws(SecureStorageError) -> SecureValues {
    var values = SecureValues()
    for part in parts {
      values.add(try part.storage.items(for: part.keys, details: part.details), to: part)
    }
    return values
  }

  /// Removes all items, those that can be even when others cannot.
  ///
  /// - Returns: The number of items that were removed.
  /// - Throws: The first reason why one could not be removed, once all have been tried.
  @discardableResult
  public func removeAll() throws(SecureStorageError) -> Int {
    var count = 0
    var failure: SecureStorageError?
    for member in members {
      do throws(SecureStorageError) {
        if try member.remove() { count += 1 }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return count
  }

  /// Copies all items to another storage, under the same keys, with label and attributes.
  ///
  /// What has no value here is left alone there.
  ///
  /// - Parameters:
  ///   - storage: Where to.
  ///   - mode: What to do about an item that is there already; with `.add` the copy stops at it.
  /// - Returns: How many items were copied.
  /// - Throws: What kept one from being read or stored; those before it are copied.
  @discardableResult
  public func copy(
    to storage: any SecureStorage, _ mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) -> Int {
    var items: [SecureItem] = []
    for part in parts {
      let found = try part.storage.items(for: part.keys, details: .all)
      items += part.keys.compactMap { found[$0] }
    }
    items = items.withoutRepetition
    for item in items { try storage.save(item.acceptable, mode) }
    return items.count
  }

  /// The same properties, tied to the storages and keys that are in force now.
  var resolved: SecureProperties {
    SecureProperties(members: members.map { $0.resolvedMember })
  }

  private init(members: [any SecurePropertyMember]) {
    self.members = members
  }

  /// The properties of one storage, with the keys that are in force now.
  struct Part {
    let storage: any SecureStorage
    let members: [any SecurePropertyMember]
    let keys: [ItemKey]

    init(_ members: [any SecurePropertyMember]) {
      (self.members, storage) = (members, members[0].storage)
      keys = members.map(\.key)
    }

    /// The details that decoding all of the items needs.
    var details: ItemQuery.Details {
      members.reduce(into: []) { $0.formUnion($1.details) }
    }
  }

  /// Those that have no storage of their own, and each of the others.
  var parts: [Part] {
    let common = members.filter { !$0.hasExplicitStorage }
    return (common.isEmpty ? [] : [Part(common)])
      + members.filter(\.hasExplicitStorage).map { Part([$0]) }
  }
}

extension SecureProperties {
  /// One property, and what is stored for it.
  public struct Entry: Sendable {
    /// The name that the property was declared with: the account or the label.
    public let name: String
    /// The key of its item.
    public let key: ItemKey
    /// Whether there is an item.
    public let isStored: Bool
    /// What went wrong with the property, or with looking for its item.
    public let failure: SecureStorageError?
  }
}

/// The values of many properties, read at one time.
public struct SecureValues: Sendable {
  private var items: [ObjectIdentifier: SecureItem] = [:]
  private var known: Set<ObjectIdentifier> = []

  /// Takes over what was found of the items of a storage.
  mutating func add(_ found: [ItemKey: SecureItem], to part: SecureProperties.Part) {
    for (member, key) in zip(part.members, part.keys) {
      items[member.identity] = found[key]
      known.insert(member.identity)
    }
  }

  /// The value of a property, given as its projected value: `values[settings.$authToken]`.
  ///
  /// - Parameter property: A property of the value that was read.
  /// - Returns: The value, or `nil` when there is none.
  /// - Throws: `.undecodable` when it is of another type, `.invalidArgument` for a property that was
  ///   not among those read.
  public subscript<Value>(_ property: SecureProperty<Value>) -> Value? {
    get throws(SecureStorageError) {
      guard known.contains(property.identity) else {
        throw SecureStorageError(
          .invalidArgument, operation: .read, backend: "SecureValues",
          message: "The property \"\(property.name)\" is not one of those that were read.",
          argument: "property")
      }
      guard let item = items[property.identity] else { return nil }
      return try property.coding.value(of: item, from: "SecureValues")
    }
  }
}

extension [SecureItem] {
  /// The items, each key once: two properties may have the same.
  var withoutRepetition: [SecureItem] {
    var seen: Set<ItemKey> = []
    return filter { seen.insert($0.key).inserted }
  }
}
