// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// The secure properties of a value, such as a struct or class of settings, including nested settings.
///
/// ```swift
/// let properties = try SecureProperties(of: settings)
/// try properties.removeAll()                      // log out
/// let values = try properties.readAll()           // all of them at once
/// let token = try values[settings.$authToken]
/// ```
///
/// Reflection finds the properties. A type in which it finds none, such as one with a `customMirror`, lists
/// them as a ``SecurePropertyList``.
public struct SecureProperties: Sendable {
  package let members: [any SecurePropertyMember]

  /// Finds the secure properties of a value.
  ///
  /// ```swift
  /// let properties = try SecureProperties(of: settings)
  /// ```
  ///
  /// - Parameter settings: The value that has the properties.
  /// - Throws: `.invalidArgument` for a value in which it finds none.
  public init(of settings: Any) throws(SecureStorageError) {
    var finder = PropertyFinder()
    finder.visit(settings)
    members = finder.members
    // Otherwise, a logout would remove nothing and succeed.
    guard members.isEmpty else { return }
    throw SecureStorageError(
      .invalidArgument, operation: .read, backendName: "SecureProperties",
      message: "No secure property was found in a value of the type \(type(of: settings)).",
      recoverySuggestion: """
        Conform the type to SecurePropertyList if it has a customMirror or unused lazy properties, or if the program \
        is built with -disable-reflection-metadata.
        """, argument: "settings")
  }

  /// Returns an entry for each property, with its key, its presence in the storage, and its error.
  ///
  /// ```swift
  /// for entry in properties.entries() { print(entry.name, entry.isStored) }
  /// ```
  ///
  /// - Returns: The entries in the order in which the properties are declared. After a failed check, `isStored` is
  ///   `false`, and `failure` is the failure that the property remembers, or else the error of the check.
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

  /// The properties of one storage, with their current keys.
  struct Part {
    let storage: any SecureStorage
    let members: [any SecurePropertyMember]
    let keys: [ItemKey]

    init(_ members: [any SecurePropertyMember]) {
      (self.members, storage) = (members, members[0].storage)
      keys = members.map(\.key)
    }

    /// Finds the items, and those that an earlier version of the app has stored under other keys.
    nonisolated(nonsending) func items(
      _ details: ItemQuery.Details
    ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
      var found = try await storage.items(for: keys, details: details)
      for (member, key) in zip(members, keys) where member.hasOldKey && found[key] == nil {
        try await member.takeOver()
        found[key] = try await storage.item(for: key, details: details)
      }
      return found
    }

    /// The details that are needed to decode all of the items.
    var details: ItemQuery.Details {
      members.reduce(into: []) { $0.formUnion($1.details) }
    }
  }

  /// The parts: one for all properties without their own storage, and one for each of the others.
  var parts: [Part] {
    let common = members.filter { !$0.hasExplicitStorage }
    return (common.isEmpty ? [] : [Part(common)])
      + members.filter(\.hasExplicitStorage).map { Part([$0]) }
  }
}

extension SecureProperties {
  /// A secure property and the state of its item.
  ///
  /// ```swift
  /// for entry in try SecureProperties(of: settings).entries() where !entry.isStored {
  ///   print("\(entry.name) is missing")
  /// }
  /// ```
  public struct Entry: Sendable {
    /// The name that the property was declared with: the account or the label.
    public let name: String
    /// The key of the item.
    public let key: ItemKey
    /// Whether there is an item.
    public let isStored: Bool
    /// The error of the property, or of looking for its item.
    public let failure: SecureStorageError?
  }
}
