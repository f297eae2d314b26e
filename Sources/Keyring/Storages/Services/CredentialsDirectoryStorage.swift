// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import KeyringRuntime
public import KeyringStorage

/// A read-only storage of the secrets that a service receives as files, from
/// [systemd](https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html#Credentials),
/// Docker, Podman or Kubernetes.
///
/// The name of a file is the account of a password or a value, or the label of a credential. Each read sees
/// the current file, and each call reads from one version of a mounted directory. The directory may be a link. A link
/// in it must lead to a file of the directory: reading any other one throws, and lists don't have it:
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
  #if os(Linux)
  private let observers: DirectoryObservers
  #endif

  /// Creates a storage, which reads at its first use.
  ///
  /// ```swift
  /// let storage = CredentialsDirectoryStorage(service: "org.example.app", directory: "/run/secrets")
  /// ```
  ///
  /// - Parameters:
  ///   - service: The service of the keys that the files stand for.
  ///   - accessGroup: The access group of these keys.
  ///   - directory: The absolute path of the directory, such as `/run/secrets`. The default is the value of
  ///     the variable `CREDENTIALS_DIRECTORY`, which systemd sets, at the time when the storage is used.
  public init(service: String, accessGroup: String? = nil, directory: String? = nil) {
    mapping = ServiceKeyMapping(service: service, accessGroup: accessGroup)
    self.directory = directory
    #if os(Linux)
    observers = DirectoryObservers(mapping)
    #endif
  }

  /// The promise for a directory whose files are replaced all at once, as by Kubernetes.
  public var readsOneVersion: Bool { true }

  /// Returns the items that match a query, the most recently written file first.
  ///
  /// - Parameter query: The items to find, and the details to return.
  /// - Returns: The matching items.
  /// - Throws: `.noStorage` for a missing or empty directory, `.accessDenied` for one that the program may not read,
  ///   `.undecodable` for the file of a credential with other content, or `.invalidArgument`.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    if Cancellation.isCurrentCancelled { throw error(.canceled, during: .read) }
    let found = try read { (directory) throws(SecureStorageError) in
      if let key = query.key { return try item(key, in: directory) }
      return try items(matching: query, in: directory)
    }
    return query.newest(of: found.filter(query.matches))
  }

  /// Returns the items stored under keys, all from one version of the directory.
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: The details to return.
  /// - Returns: The items that were found, by key.
  /// - Throws: The errors of ``items(matching:)``.
  public func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    for key in keys { try validate(key, for: .read) }
    if Cancellation.isCurrentCancelled { throw error(.canceled, during: .read) }
    return try read { (directory) throws(SecureStorageError) in
      var items: [ItemKey: SecureItem] = [:]
      for key in keys { items[key] = try item(key, in: directory).first?.selecting(details) }
      return items
    }
  }

  /// Finds out whether there is a directory, and which files are in it.
  ///
  /// The failure is `.noStorage` for a missing or empty directory.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: backendName)
    do throws(SecureStorageError) {
      let path = try path()
      let (found, strayLinks, empty) = try read { (directory) throws(SecureStorageError) in
        let names = try names(in: directory).sorted()
        let empty = names.filter {
          (try? directory.read($0, atMost: ItemLimits.secretBytes))??.content.count == 0
        }
        return (names, directory.strayLinks, empty)
      }
      for (name, cause) in strayLinks.sorted(by: { $0.key < $1.key }) {
        let error = failure(of: "The file \(path)/\(name)", cause)
        diagnosis.add("link", error.message, recoverySuggestion: error.recoverySuggestion)
      }
      if found.isEmpty, strayLinks.isEmpty {
        throw error(
          .noStorage, during: .read,
          message: "The directory \(path) has no file that can be a secret.",
          recoverySuggestion: "Pass the secrets to the service, or correct the path.")
      }
      diagnosis.add("directory", "\(path) has \(found.joined(separator: ", "))")
      if !empty.isEmpty {
        diagnosis.add(
          "empty", "\(empty.joined(separator: ", ")): an empty file is an empty secret",
          recoverySuggestion: "Check what writes it, if the secret isn't meant to be empty.")
      }
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

  private func items(
    matching query: ItemQuery, in directory: SecretsDirectory
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

  private func path() throws(SecureStorageError) -> String {
    if let path = directory ?? EnvironmentVariable.text("CREDENTIALS_DIRECTORY") { return path }
    if EnvironmentVariable.isOfCaller {
      throw error(
        .noStorage, during: .read,
        message: "A program with more rights than its caller doesn't read CREDENTIALS_DIRECTORY.",
        recoverySuggestion: "Name the directory in the argument \"directory\".")
    }
    throw error(
      .noStorage, during: .read,
      message: "The service has no credentials, because CREDENTIALS_DIRECTORY isn't set.",
      recoverySuggestion:
        "Set LoadCredentialEncrypted= or SetCredentialEncrypted= in its unit.")
  }

  /// Reads from one version of the directory.
  private func read<Result>(
    _ body: (SecretsDirectory) throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    let path = try path()
    let translate = { failure(path, $0) }
    #if os(Linux)
    if let known = observers.files {
      let (result, reads) = try SecretsDirectory.read(path, hashing: true, failing: translate) {
        (directory) throws(SecureStorageError) in (try body(directory), directory.reads)
      }
      try Swift.Result { () throws(FileFailure) in try observers.compare(path, reads, since: known)
      }
      .mapError(translate).get()
      return result
    }
    #endif
    return try SecretsDirectory.read(path, failing: translate, body)
  }

  private func names(in directory: SecretsDirectory) throws(SecureStorageError) -> [String] {
    try attempt("The directory \(directory.path)", directory.names())
  }

  private func read(
    _ name: String, in directory: SecretsDirectory
  ) throws(SecureStorageError) -> SecretsDirectory.File? {
    try attempt(
      "The file \(directory.path)/\(name)",
      directory.read(name, atMost: ItemLimits.secretBytes))
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
    try Swift.Result(catching: expression).mapError { failure(of: subject, $0) }.get()
  }

  /// Returns the error for a failure of the directory at a path.
  private func failure(_ path: String, _ cause: FileFailure) -> SecureStorageError {
    guard cause.isMissing || cause.hasNoDirectory else {
      return failure(of: "The directory \(path)", cause)
    }
    return error(
      .noStorage, during: .read,
      message: "The directory \(path) \(cause.hasNoDirectory ? "doesn't exist" : cause.problem).",
      recoverySuggestion: "Pass the secrets to the service, or correct the path.",
      underlying: cause.underlying)
  }

  private func failure(of subject: String, _ cause: FileFailure) -> SecureStorageError {
    error(
      cause.code, during: .read, message: "\(subject) \(cause.problem).",
      recoverySuggestion: cause.code == .accessDenied
        ? "Run the program as the user that owns it."
        : [ELOOP, EXDEV].contains(cause.number)
          ? "Replace the link by a file, or let it lead to one in the directory."
          : "Correct the file.",
      underlying: cause.underlying)
  }
}

#if os(Linux)
extension CredentialsDirectoryStorage: ObservableStorage {
  /// `nil` for an observed directory whose changes the system reports, and a minute for others.
  ///
  /// The system is silent about a link to a directory that is made to lead to another one.
  public var cacheLifetime: Duration? {
    guard let path = try? path(), observers.seesEachChange(in: path) else { return .cacheLifetime }
    return nil
  }

  /// Calls a closure for every file that is added, replaced or removed.
  ///
  /// A directory that is replaced as a whole, as by Kubernetes, is compared with its last version. As long as the
  /// directory is gone or unreadable, the storage reports ``/KeyringStorage/StorageEvent/interrupted``.
  ///
  /// - Parameters:
  ///   - query: The items whose changes to report. A query without a kind stands for passwords, and `nil` for
  ///     the keys of every kind that a file can have.
  ///   - observer: The closure to call.
  /// - Returns: The subscription.
  /// - Throws: `.noStorage` for a missing or empty directory, `.accessDenied` for one that the program may not read, or
  ///   `.other` at the system's limit of watched directories.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    let kind = query.map { $0.kind ?? $0.key?.kind ?? .password }
    do throws(SecureStorageError) {
      let path = try path()
      let translate = { failure(path, $0) }
      return try observers.observe(path, failing: translate) { event in
        if let kind, case .changed(let change) = event, change.key.kind != kind { return }
        observer(event)
      }
    } catch {
      throw error.during(.observe)
    }
  }
}
#endif
