// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import KeyringPlatform
internal import KeyringSealing
internal import KeyringStorage

/// The items of a file.
///
/// The items stay decrypted while the storage is in use, in memory that is locked and later overwritten.
/// Anyone who can read the memory of the process also finds their key there. All of the items are in one
/// `Secret`, so that opening a file with a thousand of them takes a single allocation of such memory.
struct FileContent: Sendable {
  private(set) var entries: [ItemKey: FileEntry] = [:]
  /// The number of writes, because two writes can happen at the same instant of the clock.
  private var revision: UInt64 = 0
  /// Whether the content differs from the file.
  private(set) var isChanged = false
  /// Whether changes are only noted in ``isChanged``.
  ///
  /// Making one copies all items.
  var isTrial = false

  init() {}

  // MARK: - Finding

  func items(matching query: ItemQuery) -> [SecureItem] {
    matches(query).map { $0.value.item(query.details) }
  }

  private func matches(_ query: ItemQuery) -> [(key: ItemKey, value: FileEntry)] {
    if query.asksForKeyOnly, let key = query.key {
      return entries[key].map { [(key, $0)] } ?? []
    }
    let found = entries.filter { query.matches($0.value.item(.metadata)) }
      .sorted { $0.value.revision > $1.value.revision }
    return Array(found.prefix(query.limit ?? .max))
  }

  /// Returns the changes of the items since an older version.
  func changes(since old: FileContent) -> [ItemChange] {
    let removed = old.entries.keys.filter { entries[$0] == nil }.map { ItemChange.removed($0) }
    let written = entries.filter { old.entries[$0.key]?.isSame(as: $0.value) != true }
      .sorted { $0.value.revision < $1.value.revision }
    return removed
      + written.map { old.entries[$0.key] == nil ? .created($0.key) : .replaced($0.key) }
  }

  // MARK: - Changing

  /// Stores an item.
  ///
  /// Properties of the item that are `nil` stay as they are. A new item has a secret.
  mutating func save(_ item: SecureItem) throws(SecureStorageError) {
    isChanged = true
    if isTrial { return }
    revision += 1
    let old = entries[item.key]
    let secret = item.secret ?? old?.secret ?? Secret("")
    entries[item.key] = FileEntry(
      ItemRecord(saving: item, over: old?.fields), secret, revision: revision)
  }

  /// Removes the items that match a query, and returns their number.
  mutating func removeItems(matching query: ItemQuery) -> Int {
    let found = matches(query)
    if !found.isEmpty { isChanged = true }
    if !isTrial { for (key, _) in found { entries[key] = nil } }
    return found.count
  }

  // MARK: - Encoding

  /// Encrypts the items.
  ///
  /// Afterwards, the items refer to the memory in which they were assembled, and no longer to their old memory.
  mutating func sealed(
    _ envelope: Envelope, _ place: FileLocation
  ) throws(SecureStorageError) -> [UInt8] {
    var starts: [Int] = []
    let content = Secret { writer in
      // The closure is called twice.
      starts.removeAll(keepingCapacity: true)
      writer.write(text: place.name)
      writer.write(revision)
      writer.write(UInt32(entries.count))
      for entry in entries.values {
        starts.append(writer.count)
        entry.withRecord { writer.write(bytes: $0) }
      }
    }
    guard content.count <= FileLocation.largest - FileHeader.byteCount - SealingKey.overhead else {
      throw SecureStorageError(
        .invalidArgument, "The file would be larger than \(FileLocation.largest) bytes.",
        recoverySuggestion: "Remove items, or use another file for some of them.",
        argument: "secret")
    }
    var index = entries.startIndex
    for start in starts {
      entries.values[index].move(to: content, at: start)
      entries.formIndex(after: &index)
    }
    isChanged = false
    let header = FileHeader(envelope.wrappedKey).bytes
    var file = header
    do throws(SealingKey.Failure) {
      try envelope.dataKey.seal(content, authenticating: header, appendingTo: &file)
    } catch {
      throw SecureStorageError(.other, "The content can't be encrypted.")
    }
    return file
  }

  /// Decrypts the items of a file, whose header was checked.
  init(
    decrypting file: [UInt8], _ envelope: Envelope, _ place: FileLocation
  ) throws(SecureStorageError) {
    let content: Secret
    do throws(SealingKey.Failure) {
      content = try envelope.dataKey.open(
        file[FileHeader.byteCount...], authenticating: Array(file[..<FileHeader.byteCount]))
    } catch {
      throw .damaged(place, "its content and its header don't belong together")
    }
    let name: String
    do throws(MalformedRecord) {
      name = try content.withUnsafeBytes { (bytes) throws(MalformedRecord) in
        var reader = ByteReader(bytes)
        let name = try reader.text()
        revision = try reader.integer()
        let count: UInt32 = try reader.integer()
        for _ in 0..<count {
          let entry = try FileEntry(&reader, in: content)
          guard entries.updateValue(entry, forKey: entry.fields.key) == nil else {
            throw MalformedRecord()
          }
        }
        guard reader.isAtEnd else { throw MalformedRecord() }
        return name
      }
    } catch {
      throw .damaged(place, "its content can't be understood")
    }
    guard name.hasSameBytes(place.name) else {
      throw SecureStorageError(
        .damaged, "The file \(place.path) was written under the name \"\(name)\".",
        recoverySuggestion: "Rename the file to that name, or restore the right file."
      )
    }
  }
}
#endif
