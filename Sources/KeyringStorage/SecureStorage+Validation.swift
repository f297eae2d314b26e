// SPDX-License-Identifier: Apache-2.0

extension SecureStorage {
  /// Checks that every storage can keep an item.
  ///
  /// Every storage calls this method before it saves an item.
  ///
  /// ```swift
  /// func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
  ///   try validate(item)
  ///   try write(item, mode)
  /// }
  /// ```
  ///
  /// - Parameter item: The item to save.
  /// - Throws: `.invalidArgument`, with the name of the argument.
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
        throw check.refusal(
          "attributes", "must not contain the attribute \"\(name)\", which the key sets")
      }
      try check.text(name, "attributes")
      try check.text(value, item.key.kind.argument(for: name), mayBeEmpty: true)
    }
    if let secret = item.secret, secret.count > secretByteLimit {
      throw check.refusal("secret", "must not be larger than \(secretByteLimit) bytes")
    }
  }

  /// Checks that a query is valid for an operation.
  ///
  /// A query is invalid if it can't match any item. For a removal, it's also invalid if it would remove
  /// every item.
  ///
  /// ```swift
  /// try validate(query, for: .read)
  /// ```
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - operation: The operation that uses the query. A removal requires a key, an attribute, or a label.
  /// - Throws: `.invalidArgument`, with the name of the argument.
  public func validate(
    _ query: ItemQuery, for operation: SecureStorageError.Operation
  ) throws(SecureStorageError) {
    let check = ArgumentCheck(storage: self, operation: operation)
    if operation == .remove, query.isUnconstrained {
      throw check.refusal("query", "must name a key, an attribute or a label")
    }
    if let key = query.key { try check.key(key) }
    if let kind = query.kind { try check.word(kind.rawValue, "kind") }
    if let label = query.label { try check.text(label, "label") }
    for (name, value) in query.attributes {
      try check.text(name, "attributes")
      try check.text(value, name, mayBeEmpty: name != AttributeName.service)
    }
    if let limit = query.limit, limit < 1 { throw check.refusal("limit", "must be at least 1") }
  }

  /// Checks that a storage can keep an item under a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - operation: The operation that uses the key.
  /// - Throws: `.invalidArgument`, with the name of the argument.
  package func validate(
    _ key: ItemKey, for operation: SecureStorageError.Operation
  ) throws(SecureStorageError) {
    if key.isValidated { return }
    try ArgumentCheck(storage: self, operation: operation).key(key)
  }

  /// Returns `true` for a key that can be looked for.
  ///
  /// The key of another program's item may have names that no other item can have.
  package func canLookFor(_ key: ItemKey) -> Bool { (try? validate(key, for: .read)) != nil }

  /// Checks that a storage can use a label for a collection.
  ///
  /// - Parameters:
  ///   - label: The label.
  ///   - operation: The operation that uses the label.
  /// - Throws: `.invalidArgument`, with the name of the argument.
  public func validate(
    collectionLabel label: String, for operation: SecureStorageError.Operation
  ) throws(SecureStorageError) {
    try ArgumentCheck(storage: self, operation: operation).text(label, "label")
  }

  /// Returns the secret of a new item, which has to have one.
  ///
  /// ```swift
  /// let secret = if let secret = item.secret ?? old?.secret { secret } else { try requireSecret(item) }
  /// ```
  ///
  /// - Parameter item: The item to save, which isn't stored yet.
  /// - Returns: The secret of the item.
  /// - Throws: `.invalidArgument` for an item that has no secret.
  public func requireSecret(_ item: SecureItem) throws(SecureStorageError) -> Secret {
    if let secret = item.secret { return secret }
    throw ArgumentCheck(storage: self, operation: .save)
      .refusal("secret", "is needed for a new item")
  }
}

extension SecureItem {
  /// A copy of the item with a label and attributes that every storage accepts.
  ///
  /// An item of another program may have a "/" in its label, or no label, and attributes that are a storage's
  /// own.
  package var sanitized: SecureItem {
    var item = self
    item.label = label.flatMap { $0.isEmpty ? nil : $0.replacingScalars(by: "-") { $0 == "/" } }
    item.attributes = attributes?.keeping { !AttributeName.isReserved($0) && !$0.isEmpty }
    (item.isForeign, item.isShared, item.hasFurtherSecrets) = (false, false, false)
    return item
  }
}

/// The checks of one call.
///
/// All of them throw the same error, except for the argument that it names.
private struct ArgumentCheck {
  let storage: any SecureStorage
  let operation: SecureStorageError.Operation

  func key(_ key: ItemKey) throws(SecureStorageError) {
    if key.isValidated { return }
    try word(key.kind.rawValue, "kind")
    if key.attributes.isEmpty { throw refusal("key", "must have at least one attribute") }
    for (name, value) in key.attributes.inOrder {
      if AttributeName.isReserved(name) {
        throw refusal("key", "must not contain the attribute \"\(name)\"")
      }
      try word(name, "key")
      let argument = key.kind.argument(for: name)
      try text(value, argument, mayBeEmpty: key.name.hasAnyParts)
      if name == AttributeName.server, !key.name.hasAnyParts,
        value.contains(where: { $0 == "/" || $0.isWhitespace })
      {
        throw refusal(
          argument,
          "must be the name of a host, without spaces or the parts of a URL; for an item of another program, "
            + "use ItemKey(kind:attributes:)")
      }
    }
    if let schema = key.schema { try text(schema, "schema") }
    key.isValidated = true
  }

  /// Checks text that a storage writes as one word of a list: a kind, or the name of a key's part.
  func word(_ word: String, _ argument: String) throws(SecureStorageError) {
    try text(word, argument)
    if word.utf8.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ",") }) {
      throw refusal(argument, "must not contain \":\" or \",\"")
    }
  }

  func text(
    _ text: String, _ argument: String, mayBeEmpty: Bool = false
  ) throws(SecureStorageError) {
    if text.isEmpty && !mayBeEmpty { throw refusal(argument, "must not be empty") }
    if text.utf8.contains(0) { throw refusal(argument, "must not contain a NUL character") }
    if text.utf8.count > ItemLimits.attributeBytes {
      throw refusal(argument, "must not be longer than \(ItemLimits.attributeBytes) bytes")
    }
  }

  // Not inlined: each place that can fail would contain its code.
  @inline(never)
  func refusal(_ argument: String, _ reason: String) -> SecureStorageError {
    storage.error(
      .invalidArgument, during: operation,
      message: "The argument \"\(argument)\" \(reason).", argument: argument)
  }
}

extension ItemKind {
  /// Returns the name by which callers know an attribute, such as "account" for a password's user name.
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
