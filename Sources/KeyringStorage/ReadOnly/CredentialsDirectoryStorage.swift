#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The secrets that a service was given as files of a directory, which can be read and not be written.
///
/// systemd, Docker, Podman and Kubernetes give them so.
///
/// ```swift
/// SecureStorageDefaults.storage = CredentialsDirectoryStorage(service: SecureStorageDefaults.service)
/// ```
///
/// The name of a file is the account of a password or a value, or the label of a credential:
/// `@Password("authToken")` reads what the unit has as `LoadCredentialEncrypted=authToken:…`.
///
/// | key | the file |
/// |---|---|
/// | password | Text. One end of line at its end is not part of it. |
/// | value | The bytes, or the JSON, as they are. |
/// | credentials | JSON with the members `login` and `password`. |
///
/// A search that names no kind takes each file for a password. Keys of other services, of other
/// access groups, and of other kinds have no file, and so no item. A name that systemd gives no
/// credential (empty, longer than 255 bytes, not printable ASCII, with "/" or ":", or beginning with
/// a dot) is `.invalidArgument`, as it can only be a mistake. A file that is larger than
/// ``ItemLimits/secretBytes``, or is no regular file, is an error too. One that is not UTF-8 is as good
/// as any for a value, and `.undecodable` for a password that is read as text. An empty file is an
/// empty secret.
///
/// Files are read again each time, so that what is exchanged while the program runs is seen.
///
/// See [systemd.exec](https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html#Credentials)
/// and [systemd-creds](https://www.freedesktop.org/software/systemd/man/latest/systemd-creds.html).
public struct CredentialsDirectoryStorage: BlockingStorage, ReadOnlyStorage {
  private let given: GivenService
  private let directory: String?

  /// Makes a storage; nothing is read before it is used.
  ///
  /// - Parameters:
  ///   - service: The service of the keys that the files stand for.
  ///   - accessGroup: The access group of these keys.
  ///   - directory: The absolute path of the directory, as `/run/secrets`; by default the value that
  ///     the variable `CREDENTIALS_DIRECTORY` has when the storage is used, which systemd sets.
  public init(service: String, accessGroup: String? = nil, directory: String? = nil) {
    given = GivenService(service: service, accessGroup: accessGroup)
    self.directory = directory
  }

  /// Finds items, the file that was written last first.
  ///
  /// - Parameter query: Which items, and what of them.
  /// - Returns: The items found.
  /// - Throws: `.noStorage` when there is no directory, `.accessDenied` when it may not be read,
  ///   `.invalidArgument`, or `.undecodable` for a credential that is none.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    if CancellationSignal.current?.isCancelled == true { throw failure(.canceled) }
    let folder = try open()
    let items =
      if let key = query.key { try item(key, in: folder) } else { try all(query, in: folder) }
    return items.filter(query.matches)
      .sorted { ($1.modified ?? .distantPast) < ($0.modified ?? .distantPast) }
      .prefix(query.limit ?? .max).map { $0.limited(to: query.details) }
  }

  /// Finds out whether there is a directory, and which files are in it.
  ///
  /// - Parameter writing: Without effect, as nothing can be written.
  /// - Returns: What was found out; `.noStorage` when there is no directory, or no file in it.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: backendName)
    do throws(SecureStorageError) {
      let folder = try open()
      let names = try names(in: folder).sorted().joined(separator: ", ")
      if names.isEmpty {
        throw failure(
          .noStorage, "The directory \(folder.path) has no file that could be a secret.",
          advice: "Give the service its secrets, or correct the path.")
      }
      diagnosis.add("directory", "\(folder.path) has \(names)")
    } catch {
      diagnosis.add("directory", error)
    }
    return diagnosis
  }

  private func item(
    _ key: ItemKey, in folder: SecretFolder
  ) throws(SecureStorageError) -> [SecureItem] {
    guard let name = given.name(of: key) else { return [] }
    guard SecretFolder.isName(name) else { throw nameFailure(name, of: key) }
    guard let file = try read(name, in: folder) else { return [] }
    if let item = SecureItem(key, given: file.content, modified: file.modified) { return [item] }
    throw failure(
      .undecodable, "The file \"\(name)\" is no JSON object of a login and a password.",
      advice: "Give the service {\"login\": …, \"password\": …}.")
  }

  private func all(
    _ query: ItemQuery, in folder: SecretFolder
  ) throws(SecureStorageError) -> [SecureItem] {
    var items: [SecureItem] = []
    for name in try names(in: folder) {
      guard let key = given.key(name, query.kind ?? .password) else { continue }
      guard let file = try read(name, in: folder) else { continue }
      SecureItem(key, given: file.content, modified: file.modified).map { items.append($0) }
    }
    return items
  }

  // MARK: - The directory

  private func open() throws(SecureStorageError) -> SecretFolder {
    guard let path = directory ?? SecretVariable.text("CREDENTIALS_DIRECTORY") else {
      throw failure(
        .noStorage, "The service was given no credentials: CREDENTIALS_DIRECTORY is not set.",
        advice: "Name them in its unit: LoadCredentialEncrypted= or SetCredentialEncrypted=.")
    }
    do throws(SecretFolder.Failure) { return try SecretFolder(path) } catch { throw failure(error) }
  }

  private func names(in folder: SecretFolder) throws(SecureStorageError) -> [String] {
    do throws(SecretFolder.Failure) { return try folder.names() } catch { throw failure(error) }
  }

  private func read(
    _ name: String, in folder: SecretFolder
  ) throws(SecureStorageError) -> SecretFolder.File? {
    do throws(SecretFolder.Failure) { return try folder.read(name) } catch { throw failure(error) }
  }

  // MARK: - Errors

  private func nameFailure(_ name: String, of key: ItemKey) -> SecureStorageError {
    let argument = key.kind == .credentials ? AttributeName.label : "account"
    return SecureStorageError(
      .invalidArgument, operation: .read, backend: backendName,
      message: "No credential can have the name \"\(name)\".",
      advice: "Choose one of printable ASCII without \"/\" and \":\", and without a dot in front.",
      argument: argument)
  }

  private func failure(_ failure: SecretFolder.Failure) -> SecureStorageError {
    self.failure(
      failure.code, failure.message, advice: failure.advice, underlying: failure.underlying)
  }

  private func failure(
    _ code: SecureStorageError.Code, _ message: String? = nil, advice: String? = nil,
    underlying: SecureStorageError.Underlying? = nil
  ) -> SecureStorageError {
    SecureStorageError(
      code, operation: .read, backend: backendName, message: message, advice: advice,
      underlying: underlying)
  }
}
