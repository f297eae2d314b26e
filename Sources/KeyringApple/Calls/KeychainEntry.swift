// SPDX-License-Identifier: Apache-2.0

/// A key of the dictionaries that the SecItem functions take and return.
package enum KeychainEntry: String, CaseIterable, Sendable {
  case itemClass
  // The attributes that tell items apart.
  case account, service, accessGroup, synchronizable
  case securityDomain, server, `protocol`, authenticationType, port, path
  // The other attributes.
  case label, comment, description, generic, creationDate, modificationDate
  case accessible, accessControl
  case data, persistentReference
  // What to search for and to return.
  case matchedItems, limit, returnsData, returnsAttributes, returnsPersistentReference
  case usesDataProtection, authenticationContext
}

/// A query, some attributes, or an item that was found.
package typealias KeychainDictionary = [KeychainEntry: KeychainValue]
