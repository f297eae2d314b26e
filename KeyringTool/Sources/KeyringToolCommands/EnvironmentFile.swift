// SPDX-License-Identifier: Apache-2.0

internal import KeyringMigration
public import KeyringStorage

/// A file with environment variables, whose values may be references to secrets.
public struct EnvironmentFile: Sendable {
  /// A variable with its value, which is a secret or plain text.
  public typealias Variable = (name: String, value: Secret, isSecret: Bool)

  private enum Value {
    case plain(Secret)
    case reference(SecretReference)
  }

  private let path: String
  private let variables: [(name: String, line: Int, value: Value)]

  /// Reads a file, but none of the secrets.
  ///
  /// - Parameter path: The path of the file.
  /// - Throws: ``ToolFailure`` if the file doesn't exist, or if a reference is malformed; `SecureStorageError`
  ///   if the file can't be read.
  public init(at path: String) throws {
    try PlaintextFileFormat.checkFile(at: path)
    self.path = path
    variables = try PlaintextSource.environmentFile(path).entries().map { entry in
      let name = entry.path.joined()
      if case .unusable(let problem) = entry.kind {
        throw ToolFailure(
          "The value of \(Self.place(name, entry.line, path)) \(problem).",
          recoverySuggestion: "Write it so that every reader of such files understands it.",
          status: .damaged)
      }
      let isReference = entry.secret.withUnsafeBytes {
        $0.starts(with: SecretReference.scheme.utf8)
      }
      guard isReference else { return (name, entry.line, .plain(entry.secret)) }
      do throws(ItemSelection.Unclear) {
        guard let text = entry.secret.text else {
          throw ItemSelection.Unclear(message: "It isn't UTF-8.")
        }
        return (name, entry.line, .reference(try SecretReference(text)))
      } catch {
        throw ToolFailure(
          "The reference of \(Self.place(name, entry.line, path)) is malformed.",
          recoverySuggestion: error.message, status: .misused)
      }
    }
  }

  /// The names of the variables.
  public var names: [String] { variables.map(\.name) }

  /// Returns the variables with their values, which are plain text in the file or secrets.
  ///
  /// - Parameter storage: The closure that returns the storage of a collection, or without a label the one
  ///   that the command uses. It isn't called if there is no reference.
  /// - Returns: The variables.
  /// - Throws: ``ToolFailure`` if a secret is missing, or `SecureStorageError` if it can't be read. Both name
  ///   the variable and its line.
  public func values(
    from storage: (_ collection: String?) throws -> any SecureStorage
  ) throws -> [Variable] {
    try variables.map { name, line, value in
      switch value {
      case .plain(let text): return (name, text, false)
      case .reference(let reference):
        let place = Self.place(name, line, path)
        do {
          let found = try Self.value(reference, storage(reference.collection))
          if let found { return (name, found, !reference.isLogin) }
        } catch var error as SecureStorageError {
          error.message = "\(place): \(error.message)"
          throw error
        } catch let failure as ToolFailure {
          throw ToolFailure(
            "\(place): \(failure.message)", recoverySuggestion: failure.recoverySuggestion,
            status: failure.status)
        }
        throw ToolFailure(
          "There is no \(reference.key.description.printable), to which \(place) refers.",
          recoverySuggestion: "Store it with \"set\", or correct the reference.", status: .notFound)
      }
    }
  }

  private static func value(
    _ reference: SecretReference, _ storage: any SecureStorage
  ) throws(SecureStorageError) -> Secret? {
    guard reference.isLogin else { return try storage.secret(for: reference.key) }
    let item = try storage.item(for: reference.key, details: .metadata)
    return item?.attributes?["username"].map { Secret($0) }
  }

  private static func place(_ name: String, _ line: Int, _ path: String) -> String {
    "\(name.printable) in line \(line) of \(path.printable)"
  }
}
