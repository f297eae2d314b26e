/// A place where secrets are plaintext, to be migrated from.
///
/// What was there may still be found on the disk, in backups and in a repository's history: a secret
/// that others could have read is to be changed as well.
public struct Plaintext: Sendable {
  let store: any PlaintextStore

  /// A JSON file, whose root is an object.
  ///
  /// The values that were migrated are cut out, and everything else stays byte for byte. The new
  /// content is written to a file beside it with the same owner and permissions, which then takes
  /// its place. What is `null` is not there. Values in arrays cannot be named.
  ///
  /// - Parameter path: The path of the file; a file that does not exist has no values.
  /// - Returns: The place.
  public static func jsonFile(_ path: String) -> Plaintext {
    Plaintext(store: PlaintextFile(file: ReplaceableFile(path: path), format: JSONFormat()))
  }

  /// A file of lines `NAME=value`, as `.env` files have.
  ///
  /// - A line may begin with `export`.
  /// - Between single quotes everything is literal.
  /// - Between double quotes `\n`, `\r`, `\t`, `\"`, `\\`, `\$` and a backslash with a backtick stand
  ///   for what they do in a shell or in C; no variable is expanded. Both kinds may span lines.
  /// - Without quotes a value ends at a `#` after a blank, or with the line.
  ///
  /// The lines that were migrated are cut out, and everything else stays byte for byte, comments
  /// behind values too. The new content is written to a file beside it with the same owner and
  /// permissions, which then takes its place.
  ///
  /// - Parameter path: The path of the file; a file that does not exist has no values.
  /// - Returns: The place.
  public static func environmentFile(_ path: String) -> Plaintext {
    Plaintext(store: PlaintextFile(file: ReplaceableFile(path: path), format: EnvironmentFormat()))
  }

  /// Values that the app reads and removes itself, such as its user defaults.
  ///
  /// ```swift
  /// Plaintext.values(
  ///   read: { UserDefaults.standard.object(forKey: $0) },
  ///   remove: { for name in $0 { UserDefaults.standard.removeObject(forKey: name) } })
  /// ```
  ///
  /// A value is a `String`, `Data`, `[UInt8]`, or anything that can be encoded as JSON.
  ///
  /// - Parameters:
  ///   - read: Finds the value with a name, `nil` when there is none.
  ///   - remove: Removes the values with these names.
  /// - Returns: The place.
  public static func values(
    read: @escaping @Sendable (_ name: String) throws -> Any?,
    remove: @escaping @Sendable (_ names: [String]) throws -> Void
  ) -> Plaintext {
    Plaintext(store: PlaintextValues(read: read, removeNames: remove))
  }
}

/// What reads and removes plaintext values.
///
/// A path is the names on the way to a value.
protocol PlaintextStore: Sendable {
  /// What errors call it.
  var name: String { get }

  /// Reads the values at some paths, and sees that they could be removed.
  ///
  /// - Parameter paths: The paths.
  /// - Returns: For each path the value, or `nil` when there is none.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  func values(at paths: [[String]]) throws(SecureStorageError) -> [PlaintextValue?]

  /// Removes the values at some paths.
  ///
  /// - Parameters:
  ///   - paths: The paths.
  ///   - check: Gets the values that are there just before they are removed; throws to keep them.
  /// - Throws: What the check threw, or what kept them from being removed.
  func remove(
    _ paths: [[String]], after check: ([PlaintextValue?]) throws(SecureStorageError) -> Void
  ) throws(SecureStorageError)
}
