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
    var items: [ObjectIdentifier: SecureItem] = [:]
    for (storage, members) in membersByStorage {
      let found = try storage.items(for: members.map(\.key), details: members.details)
      for member in members { items[member.identity] = found[member.key] }
    }
    return SecureValues(items: items, known: Set(members.map(\.identity)))
  }

  /// Removes all items, those that can be even when others cannot.
  ///
  /// - Returns: How many items were removed.
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
    // Two properties may have the same key.
    var seen: Set<ItemKey> = []
    var items: [SecureItem] = []
    for (source, members) in membersByStorage {
      let found = try source.items(for: members.map(\.key), details: .all)
      items += members.map(\.key).filter { seen.insert($0).inserted }.compactMap { found[$0] }
    }
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

  var membersByStorage: [(any SecureStorage, [any SecurePropertyMember])] {
    let common = members.filter { !$0.hasExplicitStorage }
    let own = members.filter(\.hasExplicitStorage).map { ($0.storage, [$0]) }
    return common.first.map { [($0.storage, common)] + own } ?? own
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
  let items: [ObjectIdentifier: SecureItem]
  let known: Set<ObjectIdentifier>

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

extension [any SecurePropertyMember] {
  /// What of the items is needed to decode all of them.
  fileprivate var details: ItemQuery.Details {
    reduce(into: []) { $0.formUnion($1.details) }
  }
}
