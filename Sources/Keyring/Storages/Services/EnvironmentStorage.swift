// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A read-only storage of the secrets that a program receives as environment variables.
///
/// ```swift
/// let storage = EnvironmentStorage(service: "org.example.app", prefix: "EXAMPLE_")
/// ```
///
/// The name of a variable is the prefix, followed by the account of a password or a value, or by the label
/// of a credential. The account or label is in capital letters, with a "_" before each new word and in
/// place of every character that is neither a letter nor a digit:
///
/// | account or label | variable |
/// |---|---|
/// | `authToken` | `EXAMPLE_AUTH_TOKEN` |
/// | `api-key.v2` | `EXAMPLE_API_KEY_V2` |
/// | `myURLSecret` | `EXAMPLE_MY_URL_SECRET` |
///
/// So `authToken` and `auth-token` are the same variable. A password is the text of the variable, without
/// one line break at its end. A value is the bytes or the JSON. A credential is JSON with the members
/// `login` and `password`. An empty variable counts as not set, because shells, unit files and container
/// files leave a variable empty if it was given no value. A key of another service, another access group or
/// another kind has no variable, and so no item. A name with letters outside ASCII has no variable either,
/// and fails with `.invalidArgument`. A search without a key also fails with `.invalidArgument`, because
/// the name of a variable doesn't determine the account. A value larger than
/// ``/KeyringStorage/ItemLimits/secretBytes`` is an error. A variable that isn't UTF-8 is valid as a value.
/// If you read it as the text of a password, it's `.undecodable`.
///
/// Other processes of the same user can read a program's environment, and every program that it starts
/// inherits it. If you have the choice, use ``CredentialsDirectoryStorage``.
public struct EnvironmentStorage: ImmediateStorage, ReadOnlyStorage {
  private let mapping: ServiceKeyMapping
  private let prefix: String

  /// Creates a storage without reading anything yet.
  ///
  /// - Parameters:
  ///   - service: The service of the keys that the variables stand for.
  ///   - accessGroup: The access group of these keys.
  ///   - prefix: The beginning of the variables' names, used unchanged: `EXAMPLE_`.
  public init(service: String, accessGroup: String? = nil, prefix: String) {
    mapping = ServiceKeyMapping(service: service, accessGroup: accessGroup)
    self.prefix = prefix
  }

  /// Returns the item of a key.
  ///
  /// - Parameter query: The item to find, and the details to return. It must name a key.
  /// - Returns: The item, in an array that is empty if there is none.
  /// - Throws: `.invalidArgument`, or `.undecodable` if the variable of a credential doesn't contain one.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    if CancellationSignal.isCurrentCancelled { throw error(.canceled, during: .read) }
    guard let key = query.key else {
      throw error(
        .invalidArgument, during: .read, message: "Environment variables can't be searched.",
        recoverySuggestion: "Name a key.",
        argument: "query")
    }
    guard let name = mapping.name(of: key) else { return [] }
    let variable = try variable(for: name, of: key)
    guard let value = EnvironmentVariable.value(variable) else { return [] }
    guard value.count <= ItemLimits.secretBytes else {
      throw error(
        .other, during: .read,
        message: "The variable \(variable) is larger than \(ItemLimits.secretBytes) bytes.",
        recoverySuggestion: "Pass a smaller value to the program.")
    }
    guard let item = SecureItem(key, given: value) else {
      throw error(
        .undecodable, during: .read,
        message: "The variable \(variable) isn't a JSON object with a login and a password.",
        recoverySuggestion: "Give the program {\"login\": …, \"password\": …}.")
    }
    return query.matches(item) ? [item.selecting(query.details)] : []
  }

  /// Finds out whether there is a variable whose name begins with the prefix.
  ///
  /// The failure is `.noStorage` if there is no such variable.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: backendName)
    let names = EnvironmentVariable.names(withPrefix: prefix)
    if names.isEmpty {
      diagnosis.add(
        "variables",
        error(
          .noStorage, during: .read,
          message: "No environment variable has a name that begins with \"\(prefix)\".",
          recoverySuggestion: "Pass one variable for each secret."))
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
    throw error(
      .invalidArgument, during: .read,
      message: "No environment variable can be named after \"\(name)\".",
      recoverySuggestion: "Choose a name of ASCII letters and digits.",
      argument: key.kind == .credentials ? AttributeName.label : "account")
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
      let beginsWord =
        previous.map { $0.isLower || $0.isDigit || $0.isUpper && next?.isLower == true } ?? false
      if byte.isUpper, beginsWord { name.append(UInt8(ascii: "_")) }
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
