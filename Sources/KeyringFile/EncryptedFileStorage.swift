#if EncryptedFile
public import KeyringStorage

/// A storage that keeps its items in one encrypted file, with no service and no desktop needed.
///
/// Everything is encrypted and authenticated: secrets, attributes, labels, and how many items there
/// are. <doc:FileFormat> says byte by byte how.
///
/// ```swift
/// let storage = EncryptedFileStorage(
///   at: "/var/lib/example/secrets", key: .systemdCredential("secrets-key"))
/// ```
///
/// The file and its folder are made by the first save. Every save writes a new file and puts it in
/// the place of the old when it is on the disk, so that a crash, a kill or a full disk leaves the
/// old items, whole. Several processes may use a file at once: each sees what the others have
/// written when it next reads. A file that was damaged, cut short or renamed is an error, and left
/// alone.
///
/// Copies share what they have read: the decrypted items, in memory that is locked and wiped, and
/// the key of the file, until the last copy is gone.
public struct EncryptedFileStorage: BlockingStorage {
  let file: EncryptedFile

  /// The path of the file.
  public var path: String { file.place.path }

  /// Makes a storage; nothing is opened or asked for before it is used.
  ///
  /// - Parameters:
  ///   - path: The path of the file, which need not exist. Its name is part of what is encrypted: a
  ///     renamed file is refused until it has its name again. It must not be a link.
  ///   - key: What the file is encrypted with.
  ///   - timeout: How long an operation may wait for others, in this process or another, that
  ///     write the file. What the key takes, a question to a person for example, is on top of that.
  public init(at path: String, key: KeySource, timeout: Duration = .seconds(25)) {
    file = EncryptedFile(FilePlace(path), key, timeout)
  }

  /// Stores an item under its key.
  ///
  /// When it returns the item is on the disk.
  ///
  /// - Parameters:
  ///   - item: The key and what to store under it.
  ///   - mode: The save mode.
  /// - Throws: `.itemAlreadyExists`, `.itemNotFound`, `.invalidArgument`; `.wrongKey` or
  ///   `.keyNotFound`; `.damaged`; `.accessDenied`; `.timedOut` when another writer took too long;
  ///   `.backend` with the number of the system's error, a full disk for example.
  public func save(_ item: SecureItem, _ mode: SaveMode) throws(SecureStorageError) {
    try validate(item)
    try file.change(.save) { (content) throws(SecureStorageError) in
      let old = content.entries[item.key]
      if mode == .add, old != nil { throw failure(.itemAlreadyExists, .save) }
      if mode == .update, old == nil { throw failure(.itemNotFound, .save) }
      if old == nil { _ = try secretOfNewItem(item) }
      try content.save(item)
    }
  }

  /// Finds items, newest first.
  ///
  /// - Parameter query: Which items, and what of them.
  /// - Returns: The items found; none when there is no file.
  /// - Throws: `.invalidArgument`, `.wrongKey`, `.keyNotFound`, `.damaged`, `.accessDenied`,
  ///   `.timedOut` or `.backend`.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    return try file.content(.read)?.items(matching: query) ?? []
  }

  /// Finds the item stored under a key, without looking at any other.
  ///
  /// - Parameters:
  ///   - key: The key to look for.
  ///   - details: What of the item to fetch.
  /// - Returns: The item, or `nil` when there is none.
  /// - Throws: What finding items throws.
  public func item(
    for key: ItemKey, details: ItemQuery.Details
  ) throws(SecureStorageError) -> SecureItem? {
    try validate(.key(key), for: .read)
    return try file.content(.read)?.entries[key]?.item(key, details)
  }

  /// Finds the items stored under keys, all of them as they were at one moment.
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: The errors of finding one of them.
  public func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    for key in keys { try validate(.key(key), for: .read) }
    let content = try file.content(.read)
    var items: [ItemKey: SecureItem] = [:]
    for key in keys { items[key] = content?.entries[key]?.item(key, details) }
    return items
  }

  /// Removes items.
  ///
  /// - Parameter query: Which items.
  /// - Returns: The number of items that were removed.
  /// - Throws: What saving throws but for what it says of the item.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    return try file.change(.remove) { content in
      let keys = content.keys(matching: query)
      content.remove(keys)
      return keys.count
    }
  }

  /// Encrypts the file with another key, for example after the passphrase was changed.
  ///
  /// The old key opens what is written from now on no more, but older copies of the file still. This
  /// storage and its copies use the new one at once; other processes have to be given it. Where
  /// there is no file none is made.
  ///
  /// - Parameter key: The new key.
  /// - Throws: What saving throws but for what it says of the item.
  public func changeKey(to key: KeySource) throws(SecureStorageError) {
    try file.changeKey(to: key)
  }

  /// Encrypts the file with another key.
  ///
  /// - Parameter key: The new key.
  /// - Throws: What the synchronous operation throws, and `.canceled`, changed or not.
  public func changeKey(to key: KeySource) async throws(SecureStorageError) {
    try await blocking(.changeKey) { () throws(SecureStorageError) in try changeKey(to: key) }
  }

  private func failure(
    _ code: SecureStorageError.Code, _ operation: SecureStorageError.Operation
  ) -> SecureStorageError {
    SecureStorageError(code, operation: operation, backend: backendName)
  }
}

extension EncryptedFileStorage: CustomStringConvertible, CustomReflectable {
  /// The name of the type and the path; never what is stored.
  public var description: String { "\(backendName)(\(path))" }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension SecureStorageError.Operation {
  /// Encrypting a file with another key.
  public static let changeKey = SecureStorageError.Operation(rawValue: "changeKey")
}
#endif
