// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A read-only storage of the secrets that a service receives as files, from
/// [systemd](https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html#Credentials),
/// Docker, Podman or Kubernetes.
///
/// The name of a file is the account of a password or a value, or the label of a credential. Each read sees
/// the current file:
///
/// ```swift
/// SecureStorageDefaults.storage = CredentialsDirectoryStorage(service: SecureStorageDefaults.service)
/// ```
///
/// | key | the file |
/// |---|---|
/// | password | text; one line break at its end isn't part of the password |
/// | value | the bytes, or the JSON, unchanged |
/// | credentials | JSON with the members `login` and `password` |
/// | an invalid name: empty, over 255 bytes, not printable ASCII, with "/" or ":", or a dot in front | `.invalidArgument` |
public struct CredentialsDirectoryStorage: BlockingStorage, ReadOnlyStorage {
  private let mapping: ServiceKeyMapping
  private let directory: String?

  /// Creates a storage without reading anything yet.
  ///
  /// - Parameters:
  ///   - service: The service of the keys that the files stand for.
  ///   - accessGroup: The access group of these keys.
  ///   - directory: The absolute path of the directory, such as `/run/secrets`. The default is the value of
  ///     the variable `CREDENTIALS_DIRECTORY`, which systemd sets, at the time when the storage is used.
  public init(service: String, accessGroup: String? = nil, directory: String? = nil) {
    mapping = ServiceKeyMapping(service: service, accessGroup: accessGroup)
    self.directory = directory
  }

  /// Returns the items that match a query, the most recently written file first.
  ///
  /// - Parameter query: The items to find, and the details to return.
  /// - Returns: The matching items.
  /// - Throws: `.noStorage` if there is no directory, `.accessDenied` if the program isn't allowed to read
  ///   it, `.invalidArgument`, or `.undecodable` if the file of a credential doesn't contain one.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    if CancellationSignal.isCurrentCancelled { throw error(.canceled, during: .read) }
    let directory = try open()
    let items =
      if let key = query.key { try item(key, in: directory) } else { try all(query, in: directory) }
    return query.newest(of: items.filter(query.matches))
  }

  /// Finds out whether there is a directory, and which files are in it.
  ///
  /// The failure is `.noStorage` if there is no directory, or no file in it.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: backendName)
    do throws(SecureStorageError) {
      let directory = try open()
      let names = try names(in: directory).sorted().joined(separator: ", ")
      if names.isEmpty {
        throw error(
          .noStorage, during: .read,
          message: "The directory \(directory.path) has no file that can be a secret.",
          recoverySuggestion: "Pass the secrets to the service, or correct the path.")
      }
      diagnosis.add("directory", "\(directory.path) has \(names)")
    } catch {
      diagnosis.add("directory", error)
    }
    return diagnosis
  }

  private func item(
    _ key: ItemKey, in directory: SecretsDirectory
  ) throws(SecureStorageError) -> [SecureItem] {
    guard let name = mapping.name(of: key) else { return [] }
    guard SecretsDirectory.isName(name) else { throw nameFailure(name, of: key) }
    guard let file = try read(name, in: directory) else { return [] }
    if let item = SecureItem(key, given: file.content, modified: file.modified) { return [item] }
    throw error(
      .undecodable, during: .read,
      message: "The file \"\(name)\" isn't a JSON object with a login and a password.",
      recoverySuggestion: "Give the service {\"login\": …, \"password\": …}.")
  }

  private func all(
    _ query: ItemQuery, in directory: SecretsDirectory
  ) throws(SecureStorageError) -> [SecureItem] {
    var items: [SecureItem] = []
    for name in try names(in: directory) {
      guard let key = mapping.key(name, query.kind ?? .password),
        let file = try read(name, in: directory),
        let item = SecureItem(key, given: file.content, modified: file.modified)
      else { continue }
      items.append(item)
    }
    return items
  }

  // MARK: - The directory

  private func open() throws(SecureStorageError) -> SecretsDirectory {
    guard let path = directory ?? EnvironmentVariable.text("CREDENTIALS_DIRECTORY") else {
      throw error(
        .noStorage, during: .read,
        message: "The service has no credentials, because CREDENTIALS_DIRECTORY isn't set.",
        recoverySuggestion:
          "Set LoadCredentialEncrypted= or SetCredentialEncrypted= in its unit.")
    }
    do throws(FileFailure) {
      return try SecretsDirectory(path)
    } catch {
      guard error.isMissing || error.hasNoDirectory else {
        throw failure("The directory \(path)", error)
      }
      throw self.error(
        .noStorage, during: .read, message: "The directory \(path) doesn't exist.",
        recoverySuggestion: "Pass the secrets to the service, or correct the path.",
        underlying: error.underlying)
    }
  }

  private func names(in directory: SecretsDirectory) throws(SecureStorageError) -> [String] {
    try attempt("The directory \(directory.path)", directory.names())
  }

  private func read(
    _ name: String, in directory: SecretsDirectory
  ) throws(SecureStorageError) -> SecretsDirectory.File? {
    try attempt("The file \(directory.path)/\(name)", directory.read(name))
  }

  // MARK: - Errors

  private func nameFailure(_ name: String, of key: ItemKey) -> SecureStorageError {
    let argument = key.kind == .credentials ? AttributeName.label : "account"
    return error(
      .invalidArgument, during: .read,
      message: "No credential can have the name \"\(name)\".",
      recoverySuggestion:
        "Choose one of printable ASCII without \"/\" and \":\", and without a dot in front.",
      argument: argument)
  }

  private func attempt<Result>(
    _ subject: String, _ expression: @autoclosure () throws(FileFailure) -> Result
  ) throws(SecureStorageError) -> Result {
    try Swift.Result(catching: expression).mapError { failure(subject, $0) }.get()
  }

  private func failure(_ subject: String, _ cause: FileFailure) -> SecureStorageError {
    error(
      cause.code, during: .read, message: "\(subject) \(cause.problem).",
      recoverySuggestion: cause.code == .accessDenied
        ? "Run the program as the user that owns it." : "Correct the file.",
      underlying: cause.underlying)
  }
}
