// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
public import KeyringStorage

/// A read-only storage of the secrets that a program receives as environment variables.
///
/// The name of a variable is the prefix, and the account or label in capital letters. A password is the
/// text, a value is the bytes or the JSON, and a credential is JSON with the members `login` and
/// `password`.
///
/// ```swift
/// let storage = EnvironmentStorage(service: "org.example.app", prefix: "EXAMPLE_")
/// ```
///
/// | account or label | variable |
/// |---|---|
/// | `authToken`, `auth-token` | `EXAMPLE_AUTH_TOKEN` |
/// | `api-key.v2` | `EXAMPLE_API_KEY_V2` |
/// | `myURLSecret` | `EXAMPLE_MY_URL_SECRET` |
/// | one with letters outside ASCII | `.invalidArgument` |
/// | one whose variable is empty | no item |
/// | any, in a program with more rights than its caller (setuid, setgid, capabilities of its file) | no item |
public struct EnvironmentStorage: ImmediateStorage, ReadOnlyStorage {
  private let mapping: ServiceKeyMapping
  private let prefix: String

  /// Creates a storage, which reads at its first use.
  ///
  /// ```swift
  /// let storage = EnvironmentStorage(service: "org.example.app", prefix: "EXAMPLE_")
  /// ```
  ///
  /// - Parameters:
  ///   - service: The service of the keys that the variables stand for.
  ///   - accessGroup: The access group of these keys.
  ///   - prefix: The beginning of the variables' names, used unchanged: `EXAMPLE_`.
  public init(service: String, accessGroup: String? = nil, prefix: String) {
    mapping = ServiceKeyMapping(service: service, accessGroup: accessGroup)
    self.prefix = prefix
  }

  /// The promise for variables, which don't change.
  public var readsOneVersion: Bool { true }

  /// Returns the item of a key.
  ///
  /// - Parameter query: The item to find, and the details to return. It must name a key.
  /// - Returns: The item in an array, or an empty array.
  /// - Throws: `.undecodable` for the variable of a credential with other content, or `.invalidArgument`.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    if Cancellation.isCurrentCancelled { throw error(.canceled, during: .read) }
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
  /// With no such variable, the failure is `.noStorage`.
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
