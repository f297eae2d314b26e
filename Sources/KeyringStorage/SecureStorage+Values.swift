// SPDX-License-Identifier: Apache-2.0

public import KeyringPlatform

// What one does with a single item by its key. Other values than passwords and bytes have a handle, `StoredValue`.

extension SecureStorage {
  /// Finds out whether an item is stored under a key, without fetching its secret.
  ///
  /// ```swift
  /// if try !storage.exists(key) { try storage.setPassword("s3cret", for: key) }
  /// ```
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: `true` for a present item.
  /// - Throws: The error of the storage.
  public func exists(_ key: ItemKey) throws(SecureStorageError) -> Bool {
    try item(for: key, details: []) != nil
  }

  /// Finds the item stored under a key, with all of its parts.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: The item, or `nil` for an absent one.
  /// - Throws: The error of the storage.
  public func item(for key: ItemKey) throws(SecureStorageError) -> SecureItem? {
    try item(for: key, details: .all)
  }

  /// Removes the item stored under a key.
  ///
  /// The next read may find another program's item of the same name.
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: `true` for an item that was there.
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
  /// - Returns: The password, or `nil` for an absent item.
  /// - Throws: `.undecodable` for a password other than text, or another error of the storage.
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

  /// Reads bytes.
  ///
  /// ```swift
  /// let session = try storage.data(for: .value(service: "org.example.app", account: "session"))
  /// ```
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: The bytes, or `nil` for an absent item.
  /// - Throws: The error of the storage.
  public func data(for key: ItemKey) throws(SecureStorageError) -> Data? {
    try value(for: key, as: .data)
  }

  /// Stores bytes unchanged, or removes the item.
  ///
  /// ```swift
  /// try storage.setData(session, for: .value(service: "org.example.app", account: "session"))
  /// ```
  ///
  /// - Parameters:
  ///   - data: The bytes, or `nil` to remove the item.
  ///   - key: The key of the item.
  ///   - mode: The save mode.
  /// - Throws: The error of the storage.
  public func setData(
    _ data: Data?, for key: ItemKey, mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    try setValue(data, for: key, as: .data, mode: mode)
  }
}
