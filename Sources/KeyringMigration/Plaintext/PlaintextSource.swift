// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A source of plaintext secrets to migrate.
///
/// The old values may remain on the disk, in backups, and in the history of a repository. If others could
/// have read a secret, change the secret as well.
///
/// ```swift
/// try SecureProperties(of: settings).migrate(from: .jsonFile("settings.json"))
/// ```
public struct PlaintextSource: Sendable {
  let store: any PlaintextStore

  /// Creates a source from a JSON file whose root is an object.
  ///
  /// Migrated values are cut out of the file, and the rest stays byte for byte the same. A `null` is no
  /// value, and values in arrays can't be named.
  ///
  /// ```swift
  /// try SecureProperties(of: settings).migrate(from: .jsonFile("settings.json"))
  /// ```
  ///
  /// - Parameter path: The path of the file. A file that doesn't exist has no values.
  /// - Returns: The source.
  public static func jsonFile(_ path: String) -> PlaintextSource {
    PlaintextSource(
      store: PlaintextFile(
        file: ReplaceableFile(path: path), isNested: true, parts: JSONFormat.parts))
  }

  /// Creates a source from a file of `NAME=value` lines, such as an `.env` file.
  ///
  /// Migrated lines are cut out of the file, and the rest stays byte for byte the same. Values can have
  /// single quotes, double quotes with escapes such as `\n`, or no quotes; variables aren't expanded. A file
  /// that readers understand in different ways is refused with the number of the line.
  ///
  /// ```swift
  /// try SecureProperties(of: settings).migrate(from: .environmentFile(".env"), at: ["authToken": ["AUTH_TOKEN"]])
  /// ```
  ///
  /// - Parameter path: The path of the file. A file that doesn't exist has no values.
  /// - Returns: The source.
  public static func environmentFile(_ path: String) -> PlaintextSource {
    PlaintextSource(
      store: PlaintextFile(file: ReplaceableFile(path: path), parts: EnvironmentParser.parts))
  }

  /// Creates a source from a file of a format that a closure reads.
  ///
  /// Migrated values are cut out of the file, and the rest stays byte for byte the same.
  ///
  /// - Parameters:
  ///   - path: The path of the file. A file that doesn't exist has no values.
  ///   - entries: The closure that finds the values in the content of the file.
  /// - Returns: The source.
  public static func file(
    _ path: String, entries: @escaping @Sendable (_ content: Secret) -> [PlaintextEntry]
  ) -> PlaintextSource {
    PlaintextSource(
      store: PlaintextFile(file: ReplaceableFile(path: path)) {
        (content) throws(PlaintextFormatError) in
        let parts = entries(content).map(\.part)
        guard parts.allSatisfy({ $0.range.lowerBound >= 0 && $0.range.upperBound <= content.count })
        else {
          throw PlaintextFormatError("An entry isn't in the file.", code: .invalidArgument)
        }
        return parts.sorted { $0.range.lowerBound < $1.range.lowerBound }
      })
  }

  /// Reads all values of a file, in its order.
  ///
  /// The file may be read-only and have several names. A value that readers understand in different ways, or whose
  /// name occurs several times, is unusable.
  ///
  /// - Returns: The values and their names. A file that doesn't exist has none.
  /// - Throws: `SecureStorageError` for a failed read, or `.undecodable` for content of another format.
  public func entries() throws(SecureStorageError) -> [PlaintextEntry] { try store.entries() }

  /// Checks that values can be removed, as a migration does before it writes anything.
  ///
  /// - Throws: `SecureStorageError` if the file is read-only, has several names, or can't be read.
  public func checkIsRemovable() throws(SecureStorageError) { try store.checkIsRemovable() }

  /// Creates a source from values that the app reads and removes, such as its user defaults.
  ///
  /// ```swift
  /// PlaintextSource.values(
  ///   read: { UserDefaults.standard.object(forKey: $0) },
  ///   remove: { for name in $0 { UserDefaults.standard.removeObject(forKey: name) } })
  /// ```
  ///
  /// A value is a `String`, `Data`, `[UInt8]`, anything that can be encoded as JSON, or what Foundation reads
  /// from JSON or a property list.
  ///
  /// - Parameters:
  ///   - read: The closure that returns the value with a name, or `nil` if there is none.
  ///   - remove: The closure that removes the values with certain names.
  /// - Returns: The source.
  public static func values(
    read: @escaping @Sendable (_ name: String) throws -> Any?,
    remove: @escaping @Sendable (_ names: [String]) throws -> Void
  ) -> PlaintextSource {
    PlaintextSource(store: PlaintextValues(read: read, removeNames: remove))
  }
}
