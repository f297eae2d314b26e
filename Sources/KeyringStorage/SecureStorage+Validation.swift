extension SecureStorage {
  /// Refuses an item that some storage could not keep; every storage calls this before it acts.
  ///
  /// - Parameter item: The item to be saved.
  /// - Throws: `.invalidArgument`, naming the argument.
  public func validate(_ item: SecureItem) throws(SecureStorageError) {
    let check = ArgumentCheck(storage: self, operation: .save)
    try check.key(item.key)
    if let label = item.label {
      try check.text(label, "label")
      if label.utf8.contains(UInt8(ascii: "/")) {
        throw check.refusal("label", "must not contain \"/\"")
      }
    }
    for (name, value) in item.attributes ?? [:] {
      if item.key.attributes[name] != nil || AttributeName.isReserved(name) {
        throw check.refusal("attributes", "must not name \"\(name)\", which the key sets")
      }
      try check.text(name, "attributes")
      try check.text(value, item.key.kind.argument(for: name), mayBeEmpty: true)
    }
    if let secret = item.secret, secret.count > ItemLimits.secretBytes {
      throw check.refusal("secret", "must not be larger than \(ItemLimits.secretBytes) bytes")
    }
  }

  /// Refuses a query that no item could match, or that would remove every item there is.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - operation: What the query is for; removing refuses one that names nothing.
  /// - Throws: `.invalidArgument`, naming the argument.
  public func validate(
    _ query: ItemQuery, for operation: SecureStorageError.Operation
  ) throws(SecureStorageError) {
    let check = ArgumentCheck(storage: self, operation: operation)
    if operation == .remove, query.namesNothing {
      throw check.refusal("query", "must name a key or an attribute")
    }
    if let key = query.key { try check.key(key) }
    if let kind = query.kind { try check.kind(kind) }
    if let label = query.label { try check.text(label, "label") }
    for (name, value) in query.attributes {
      try check.text(name, "attributes")
      try check.text(value, name, mayBeEmpty: name != AttributeName.service)
    }
    if let limit = query.limit, limit < 1 { throw check.refusal("limit", "must be at least 1") }
  }

  /// Refuses a key that could not be kept.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - operation: What it is for.
  /// - Throws: `.invalidArgument`, naming the argument.
  func validate(
    _ key: ItemKey, for operation: SecureStorageError.Operation
  ) throws(SecureStorageError) {
    if key.isChecked { return }
    try ArgumentCheck(storage: self, operation: operation).key(key)
  }

  /// Refuses the label of a collection that could not be kept.
  ///
  /// - Parameters:
  ///   - label: The label.
  ///   - operation: What it is for.
  /// - Throws: `.invalidArgument`, naming the label.
  public func validate(
    collectionLabel label: String, for operation: SecureStorageError.Operation
  ) throws(SecureStorageError) {
    try ArgumentCheck(storage: self, operation: operation).text(label, "label")
  }

  /// Refuses a new item that has no secret.
  ///
  /// - Parameter item: An item to be saved where there is none.
  /// - Returns: Its secret.
  /// - Throws: `.invalidArgument`, naming the secret.
  public func secretOfNewItem(_ item: SecureItem) throws(SecureStorageError) -> Secret {
    if let secret = item.secret { return secret }
    throw ArgumentCheck(storage: self, operation: .save)
      .refusal("secret", "is needed for a new item")
  }
}

extension SecureItem {
  /// The same with a label and attributes that every storage takes: another program's item may have a
  /// "/" in its label, or none, and attributes that only a storage may give.
  package var acceptable: SecureItem {
    var item = self
    let scalars = (label ?? "").unicodeScalars.map { $0 == "/" ? "-" : $0 }
    item.label = scalars.isEmpty ? nil : String(String.UnicodeScalarView(scalars))
    item.attributes = attributes?.filter { !AttributeName.isReserved($0.key) && !$0.key.isEmpty }
    return item
  }
}

/// The checks of one call, all of which throw the same error but for the argument.
private struct ArgumentCheck<Storage: SecureStorage> {
  let storage: Storage
  let operation: SecureStorageError.Operation

  func key(_ key: ItemKey) throws(SecureStorageError) {
    if key.isChecked { return }
    try kind(key.kind)
    if key.attributes.isEmpty { throw refusal("key", "must have a part") }
    for (name, value) in key.attributes.sorted(by: { $0.key < $1.key }) {
      if AttributeName.isReserved(name) { throw refusal("key", "must not name \"\(name)\"") }
      try word(name, "key")
      try text(value, key.kind.argument(for: name))
    }
    key.isChecked = true
  }

  func kind(_ kind: ItemKind) throws(SecureStorageError) {
    try word(kind.rawValue, "kind")
  }

  /// What a storage writes as one word of a list: the kind, and the names of the parts.
  private func word(_ word: String, _ argument: String) throws(SecureStorageError) {
    try text(word, argument)
    if word.utf8.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ",") }) {
      throw refusal(argument, "must not contain \":\" or \",\"")
    }
  }

  func text(
    _ text: String, _ argument: String, mayBeEmpty: Bool = false
  ) throws(SecureStorageError) {
    if text.isEmpty && !mayBeEmpty { throw refusal(argument, "must not be empty") }
    if text.utf8.contains(0) { throw refusal(argument, "must not contain NUL") }
    if text.utf8.count > ItemLimits.attributeBytes {
      throw refusal(argument, "must not be longer than \(ItemLimits.attributeBytes) bytes")
    }
  }

  func refusal(_ argument: String, _ reason: String) -> SecureStorageError {
    SecureStorageError(
      .invalidArgument, operation: operation, backend: storage.backendName,
      message: "The argument \"\(argument)\" \(reason).", argument: argument)
  }
}

extension ItemKind {
  /// What callers know an attribute as: a password's user name is its account.
  fileprivate func argument(for attribute: String) -> String {
    switch (self, attribute) {
    case (.password, AttributeName.username), (.value, AttributeName.username),
      (.internetPassword, AttributeName.user):
      "account"
    case (.internetPassword, AttributeName.object): "path"
    case (.internetPassword, AttributeName.domain): "securityDomain"
    case (.internetPassword, AttributeName.authenticationType): "authenticationType"
    case (_, AttributeName.accessGroup): "accessGroup"
    case (.credentials, AttributeName.username): "login"
    default: attribute
    }
  }
}
