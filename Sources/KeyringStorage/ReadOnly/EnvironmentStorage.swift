/// The secrets that a program was given as environment variables; they can be read, and not be
/// written.
///
/// ```swift
/// let storage = EnvironmentStorage(service: "org.example.app", prefix: "EXAMPLE_")
/// ```
///
/// The name of a variable is the prefix, and then the account of a password or a value, or the label
/// of a credential, in capital letters, with "_" where a new word begins and for whatever is neither
/// letter nor digit:
///
/// | account or label | variable |
/// |---|---|
/// | `authToken` | `EXAMPLE_AUTH_TOKEN` |
/// | `api-key.v2` | `EXAMPLE_API_KEY_V2` |
/// | `myURLSecret` | `EXAMPLE_MY_URL_SECRET` |
///
/// So `authToken` and `auth-token` are the same variable. A password is the text, of which one end of
/// line at the end is not part; a value the bytes or the JSON; and a credential JSON with the members
/// `login` and `password`. A variable that is empty counts as not set, because that is how shells, unit
/// files and container files leave one that was given no value. Keys of other services, of other access
/// groups, and of other kinds have no variable, and so no item. A name with letters other than ASCII's
/// has none either, and is `.invalidArgument`. So is a search that names no key: a variable's name does
/// not tell the account. A value larger than ``ItemLimits/secretBytes`` is an error; one that is not
/// UTF-8 is as good as any for a value, and `.undecodable` for a password that is read as text.
///
/// Other processes of the same user can read a program's environment, and whatever the program starts
/// inherits it: where there is a choice, take ``CredentialsDirectoryStorage``.
public struct EnvironmentStorage: ImmediateStorage, ReadOnlyStorage {
  private let given: GivenService
  private let prefix: String

  /// Makes a storage; nothing is read before it is used.
  ///
  /// - Parameters:
  ///   - service: The service of the keys that the variables stand for.
  ///   - accessGroup: The access group of these keys.
  ///   - prefix: What the names of the variables begin with, as it is: `EXAMPLE_`.
  public init(service: String, accessGroup: String? = nil, prefix: String) {
    given = GivenService(service: service, accessGroup: accessGroup)
    self.prefix = prefix
  }

  /// Finds the item of a key.
  ///
  /// - Parameter query: Which item, and what of it; one that names no key is refused.
  /// - Returns: The item found.
  /// - Throws: `.invalidArgument`, or `.undecodable` for a credential that is none.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    if CancellationSignal.current?.isCancelled == true { throw failure(.canceled) }
    guard let key = query.key else {
      throw failure(
        .invalidArgument, "Environment variables cannot be searched.", advice: "Name a key.",
        argument: "query")
    }
    guard let name = given.name(of: key) else { return [] }
    let variable = try variable(for: name, of: key)
    guard let value = SecretVariable.value(variable) else { return [] }
    guard value.count <= ItemLimits.secretBytes else {
      throw failure(
        .backend, "The variable \(variable) is larger than \(ItemLimits.secretBytes) bytes.",
        advice: "Give the program a smaller value.")
    }
    guard let item = SecureItem(key, given: value) else {
      throw failure(
        .undecodable, "The variable \(variable) is no JSON object of a login and a password.",
        advice: "Give the program {\"login\": …, \"password\": …}.")
    }
    return query.matches(item) ? [item.limited(to: query.details)] : []
  }

  /// Finds out whether there is a variable whose name begins with the prefix.
  ///
  /// - Parameter writing: Without effect, as nothing can be written.
  /// - Returns: What was found out; `.noStorage` when there is none.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: backendName)
    let names = SecretVariable.names(withPrefix: prefix)
    if names.isEmpty {
      diagnosis.add(
        "variables",
        failure(
          .noStorage, "No environment variable has a name that begins with \"\(prefix)\".",
          advice: "Start the program with one for each secret."))
    } else {
      diagnosis.add("variables", names.sorted().joined(separator: ", "))
    }
    return diagnosis
  }

  private func variable(
    for name: String, of key: ItemKey
  ) throws(SecureStorageError) -> String {
    let variable = prefix + name.asVariable
    let isValid =
      name.utf8.allSatisfy { $0 < 0x80 } && variable.utf8.first?.isDigit == false
      && variable.utf8.allSatisfy { $0 != 0 && $0 != UInt8(ascii: "=") }
    if isValid { return variable }
    throw failure(
      .invalidArgument, "No environment variable can stand for \"\(name)\".",
      advice: "Choose a name of ASCII letters and digits.",
      argument: key.kind == .credentials ? AttributeName.label : "account")
  }

  private func failure(
    _ code: SecureStorageError.Code, _ message: String? = nil, advice: String? = nil,
    argument: String? = nil
  ) -> SecureStorageError {
    SecureStorageError(
      code, operation: .read, backend: backendName, message: message, advice: advice,
      argument: argument)
  }
}

extension String {
  /// The text as the name of a variable: `authToken` as `AUTH_TOKEN`.
  fileprivate var asVariable: String {
    let bytes = Array(utf8)
    var name: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      let previous = index > 0 ? bytes[index - 1] : nil
      let next = index + 1 < bytes.count ? bytes[index + 1] : nil
      if byte.isUpper, let previous, previous.isLower || previous.isDigit {
        name.append(UInt8(ascii: "_"))
      } else if byte.isUpper, previous?.isUpper == true, next?.isLower == true {
        name.append(UInt8(ascii: "_"))
      }
      let isKept = byte.isUpper || byte.isDigit
      name.append(byte.isLower ? byte - 0x20 : isKept ? byte : UInt8(ascii: "_"))
    }
    return String(decoding: name, as: UTF8.self)
  }
}

extension UInt8 {
  fileprivate var isUpper: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
  fileprivate var isLower: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
