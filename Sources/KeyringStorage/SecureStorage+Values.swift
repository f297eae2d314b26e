// SPDX-License-Identifier: Apache-2.0

// What one does with a single item by its key. Values of other types than passwords have a handle, `StoredValue`.

extension SecureStorage {
  /// Returns `true` if an item is stored under a key, without fetching its secret.
  ///
  /// ```swift
  /// if try !storage.exists(key) { try storage.setPassword("s3cret", for: key) }
  /// ```
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: `true` if there is such an item.
  /// - Throws: The error of the storage.
  public func exists(_ key: ItemKey) throws(SecureStorageError) -> Bool {
    try item(for: key, details: []) != nil
  }

  /// Finds the item stored under a key, with all of its parts.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: The item, or `nil` if there is none.
  /// - Throws: The error of the storage.
  public func item(for key: ItemKey) throws(SecureStorageError) -> SecureItem? {
    try item(for: key, details: .all)
  }

  /// Removes the item stored under a key.
  ///
  /// If another program has an item of the same name, the next read finds that one.
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: `true` if there was one.
  /// - Throws: The error of the storage.
  @discardableResult
  public func remove(_ key: ItemKey) throws(SecureStorageError) -> Bool {
    try removeItems(matching: .key(key)) > 0
  }

  /// Reads a password.
  ///
  /// ```swift
  /// let password = try storage.password(for: .password(service: "org.example.app", account: "me"))
  /// ```
  ///
  /// - Parameter key: The key of a generic or an internet password.
  /// - Returns: The password, or `nil` if there is none.
  /// - Throws: `.undecodable` if the password isn't text, or another error if the storage can't be read.
  public func password(for key: ItemKey) throws(SecureStorageError) -> String? {
    try value(for: key, as: .text)
  }

  /// Stores a password, or removes the item.
  ///
  /// ```swift
  /// try storage.setPassword("s3cret", for: .password(service: "org.example.app", account: "me"))
  /// ```
  ///
  /// - Parameters:
  ///   - password: The password, or `nil` to remove the item.
  ///   - key: The key of a generic or an internet password.
  ///   - mode: The save mode.
  /// - Throws: The error of the storage.
  public func setPassword(
    _ password: String?, for key: ItemKey, mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    try setValue(password, for: key, as: .text, mode: mode)
  }
}
