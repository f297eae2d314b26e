// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringMigration
public import KeyringStorage
import Synchronization

/// An import of secrets from a file of another program.
public struct PlaintextImport: Sendable {
  /// A value of the file, and the item that it becomes.
  struct Value: Sendable {
    /// The name, which contains nothing of the secret.
    let name: String
    let line: Int
    let key: ItemKey
    let mapping: PlaintextMapping
    /// The reason why no storage can keep the item, or `nil` if one can.
    let problem: String?

    init(
      _ entry: PlaintextEntry, name: String, key: ItemKey, _ mapping: PlaintextMapping,
      problem: String? = nil
    ) {
      (self.name, line, self.key, self.mapping) = (name, entry.line, key, mapping)
      self.problem = problem ?? Self.problem(of: SecureItem(key: key, secret: entry.secret))
    }

    private static func problem(of item: SecureItem) -> String? {
      do throws(SecureStorageError) {
        // All storages have the same rules.
        try InMemoryStorage().validate(item)
        return nil
      } catch {
        return error.argument == "secret"
          ? "has a value that is too large for an item" : "has a name that no item can have"
      }
    }
  }

  private let path: String
  private let source: PlaintextSource
  private let values: [Value]
  /// A line for each secret of the file that isn't imported, with the reason.
  public let refusals: [String]

  /// Reads the names in a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - format: The format of the file.
  ///   - service: The service of the items, for a format that names none.
  ///   - names: The names of the values to import, or none for all values.
  /// - Throws: ``ToolFailure`` if the file or one of the values doesn't exist, or if two values are for the
  ///   same item; `SecureStorageError` if the file can't be read.
  public init(
    ofFileAt path: String, format: PlaintextFileFormat, service: String?, only names: [String] = []
  ) throws {
    try PlaintextFileFormat.checkFile(at: path)
    self.path = path
    source = format.source(path)
    let entries = try source.entries()
    let found = format.values(of: entries, service: service ?? "")
    let all = found.filter { $0.problem == nil }
    let wanted = Set(names)
    if let name = wanted.subtracting(all.map(\.name)).min() {
      if let refused = found.first(where: { $0.name == name }), let problem = refused.problem {
        throw ToolFailure(
          "Line \(refused.line) of \(path.printable) \(problem).".printable,
          recoverySuggestion: "Leave the value in the file.", status: .failed)
      }
      throw ToolFailure(
        "\(path.printable) has no value \(name.printable).",
        recoverySuggestion: "List the names with --dry-run.", status: .notFound)
    }
    values = names.isEmpty ? all : all.filter { wanted.contains($0.name) }
    let lines = Set(found.map(\.line))
    let problems =
      entries.map { ($0.line, format.problem(of: $0, lines: lines)) }
      + found.map { ($0.line, $0.problem) }
    let refusals = problems.compactMap { line, problem in
      problem.map { "not imported: line \(line) of \(path) \($0)".printable }
    }
    self.refusals = names.isEmpty ? refusals : []
    try checkKeys()
  }

  private func checkKeys() throws {
    for same in Dictionary(grouping: values, by: \.key).values where same.count > 1 {
      throw ToolFailure(
        "Lines \(same[0].line) and \(same[1].line) are for the same \(same[0].key.description.printable).",
        recoverySuggestion: "Remove one of them, or name the other one with --only.",
        status: .ambiguous)
    }
    if values.isEmpty, refusals.isEmpty {
      throw ToolFailure(
        "\(path.printable) has no secrets.",
        recoverySuggestion: "If it isn't of the format that its name suggests, use --format.",
        status: .notFound)
    }
  }

  /// A line for each value, with its name and the item that it becomes.
  public var lines: [String] {
    let width = values.map(\.name.printable.count).max() ?? 0
    return values.map { value in
      "\(value.name.printable.padded(to: width))  \(value.key.description.printable)"
    }
  }

  /// A sentence about other users who can read the file, or `nil` if only its owner can.
  public var warning: String? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & 0o044 != 0 else { return nil }
    let mode = String(status.st_mode & 0o777, radix: 8)
    let others = status.st_mode & 0o004 == 0 ? "Its group" : "Every user"
    return """
      \(others) may read \(path.printable) (mode \(mode)). Run "chmod 600", and change secrets that others \
      may have read.
      """
  }

  /// Writes the values to a storage, and reads each of them back.
  ///
  /// - Parameters:
  ///   - storage: The storage.
  ///   - isReplacing: Whether to replace items that have another value.
  ///   - isToMove: Whether the values are moved afterwards. A file from which they can't be removed is then refused.
  /// - Returns: The number of values that are in the storage now.
  /// - Throws: `SecureStorageError`, which says what was done.
  public func copy(
    to storage: any SecureStorage, replacing isReplacing: Bool, toMove isToMove: Bool = false
  ) throws -> Int {
    try perform(storage, isReplacing) { (migration) throws(SecureStorageError) in
      if isToMove, !values.isEmpty { try source.checkIsRemovable() }
      return try migration.copy().count
    }
  }

  /// Reads the values in a storage once more, and removes them from the file.
  ///
  /// - Parameter storage: The storage, to which the values were copied.
  /// - Returns: The number of values that were removed from the file.
  /// - Throws: ``ToolFailure`` if one of the values isn't there any more, or `SecureStorageError`, which says what
  ///   was done.
  public func move(to storage: any SecureStorage) throws -> Int {
    // A value that is written only now might be lost again after it's gone from the file.
    let found = try storage.items(for: values.map(\.key), details: .metadata)
    if let lost = values.first(where: { found[$0.key] == nil }) {
      throw ToolFailure(
        "The keyring has lost \(lost.name.printable) (line \(lost.line)).",
        recoverySuggestion: "\(path.printable) is unchanged. Run the command again.",
        status: .damaged)
    }
    return try perform(storage, false, isCopied: true) { (migration) throws(SecureStorageError) in
      try migration.move().count
    }
  }

  private func perform(
    _ storage: any SecureStorage, _ isReplacing: Bool, isCopied: Bool = false,
    _ body: (Migration) throws(SecureStorageError) -> Int
  ) throws(SecureStorageError) -> Int {
    let last = Mutex<Migration.Progress?>(nil)
    let migration = Migration(
      of: values.map(\.mapping), from: source, to: storage, replacing: isReplacing
    ) { progress in last.withLock { $0 = progress } }
    do {
      return try body(migration)
    } catch {
      throw described(error, last.withLock(\.self), isCopied: isCopied)
    }
  }

  /// Returns an error that also says where the import stopped.
  private func described(
    _ error: SecureStorageError, _ progress: Migration.Progress?, isCopied: Bool
  ) -> SecureStorageError {
    var error = error
    let isExisting = error.code == .itemAlreadyExists
    if isExisting { error.recoverySuggestion = "To replace it, use --replace." }
    var done =
      isCopied
      ? "All values are in the storage, and still in \(path.printable)."
      : "Nothing was written, and \(path.printable) is unchanged."
    if let progress, progress.phase == .writing || progress.phase == .verifying {
      if values.indices.contains(progress.completed) {
        let value = values[progress.completed]
        error.message =
          "The import stopped at \(value.name.printable) (line \(value.line)): \(error.message)"
      }
      let isWriting = progress.phase == .writing
      done =
        "\(progress.completed) of \(progress.total) values were \(isWriting ? "written" : "read back"). "
        + "\(path.printable) is unchanged. To go on, run the command again."
    }
    error.recoverySuggestion = "\(error.advice) \(done)"
    return error
  }
}
