/// The names under which the parts of an item are stored as Secret Service attributes.
package enum AttributeName {
  /// The app or service.
  package static let service = "service"
  /// The account of a password, the login of a credential.
  package static let username = "username"
  /// The name of a credential within its service.
  package static let label = "label"
  /// The access group of a password or value.
  package static let accessGroup = "access-group"
  /// What an item is about, in its owner's words.
  package static let comment = "comment"

  // The names of libsecret's network schema.
  /// The host.
  package static let server = "server"
  /// The scheme of the URL.
  package static let `protocol` = "protocol"
  /// The port, in decimal.
  package static let port = "port"
  /// The path on the server.
  package static let object = "object"
  /// The security domain, or realm.
  package static let domain = "domain"
  /// How the user authenticates.
  package static let authenticationType = "authtype"
  /// The account on a server.
  package static let user = "user"

  /// Our own: the kind of an item and which parts its key has.
  ///
  /// It is what keeps any item's attributes from being a subset of another's.
  package static let key = "swift-keyring:key"
  /// Our own: which of several items with the same key is the newest; absent means 0.
  package static let revision = "swift-keyring:revision"
  /// Our own: that an empty secret is meant.
  ///
  /// It is written before the secret, and stays.
  package static let emptySecret = "swift-keyring:empty"
  /// libsecret's: the schema of the item.
  package static let schema = "xdg:schema"

  /// The names that a storage gives, and a caller may not.
  package static let reserved: Set<String> = [key, revision, emptySecret, schema]

  /// Tells whether a caller may not give an attribute this name.
  ///
  /// gnome-keyring 42 marks attributes in its files by a prefix of the name, and drops or renames what
  /// has it already when it reads them again.
  ///
  /// - Parameter name: The name.
  /// - Returns: Whether it is kept for storages.
  package static func isReserved(_ name: String) -> Bool {
    reserved.contains(name) || name.hasPrefix("gkr:compat:")
  }
}
