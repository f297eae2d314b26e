import Keyring

/// What git says of a credential, or wants to know: a line `name=value` for each part.
///
/// All is done byte by byte: to Swift a `=` and the combining mark after it are one character.
///
/// See [the format](https://git-scm.com/docs/git-credential#IOFMT).
struct CredentialDescription: Equatable {
  var `protocol`: String?
  /// The host, with the port if git names one: `git.example.org:8443`.
  var host: String?
  /// The path, which git gives for HTTP only if `credential.useHttpPath` is set.
  var path: String?
  var username: String?
  var password: Secret?
  /// When the password expires, in seconds since 1970; whatever the bytes are, they come back.
  var passwordExpiry: Secret?
  /// What a helper for OAuth gets another password with.
  var refreshToken: Secret?
}

// MARK: - Reading

extension CredentialDescription {
  /// Reads a description, up to an empty line or the end.
  ///
  /// - Parameter input: The bytes; none after the empty line is asked for.
  /// - Throws: What is wrong with a line.
  init(_ input: some Sequence<UInt8>) throws(HelperFailure) {
    self.init()
    var line: [UInt8] = []
    for byte in input {
      if byte != UInt8(ascii: "\n") {
        line.append(byte)
        continue
      }
      if line.isEmpty { return }
      try read(line)
      line = []
    }
    if !line.isEmpty { try read(line) }
  }

  /// Reads one line; one that says something else is passed over.
  ///
  /// - Parameter line: The line, without its end.
  /// - Throws: What is wrong with it.
  mutating func read(_ line: some Collection<UInt8>) throws(HelperFailure) {
    guard let end = line.firstIndex(of: UInt8(ascii: "=")) else { throw .malformedLine }
    let value = line[end...].dropFirst()
    switch String(decoding: line[..<end], as: UTF8.self) {
    case "protocol": `protocol` = try text(value, "protocol")
    case "host": host = try text(value, "host")
    case "path": path = try text(value, "path")
    case "username": username = try text(value, "username")
    case "password": password = Secret(bytes: try writable(value, "password"))
    case "password_expiry_utc":
      passwordExpiry = Secret(bytes: try writable(value, "password_expiry_utc"))
    case "oauth_refresh_token":
      refreshToken = Secret(bytes: try writable(value, "oauth_refresh_token"))
    case "url": self = try CredentialDescription(url: Array(value)[...])
    // Newer versions of git say more, in lists like `capability[]` too.
    default: break
    }
  }

  /// Makes text of a value.
  ///
  /// - Parameters:
  ///   - value: The bytes.
  ///   - name: What they are the value of.
  /// - Returns: The text.
  /// - Throws: `.notText` or `.unwritableValue`.
  func text(_ value: some Collection<UInt8>, _ name: String) throws(HelperFailure) -> String {
    guard let text = String(validating: try writable(value, name), as: UTF8.self) else {
      throw .notText(name)
    }
    return text
  }

  /// Refuses a value that could not be written in a line.
  ///
  /// - Parameters:
  ///   - value: The bytes.
  ///   - name: What they are the value of.
  /// - Returns: The same bytes.
  /// - Throws: `.unwritableValue`.
  func writable<Value: Sequence<UInt8>>(
    _ value: Value, _ name: String
  ) throws(HelperFailure) -> Value {
    if value.contains(where: { $0 == UInt8(ascii: "\n") || $0 == 0 }) {
      throw .unwritableValue(name)
    }
    return value
  }
}

// MARK: - Writing

extension CredentialDescription {
  /// Writes the description, a line for each part that there is.
  ///
  /// - Returns: The lines.
  /// - Throws: `.unwritableValue`.
  func lines() throws(HelperFailure) -> [UInt8] {
    let parts: [(name: String, value: [UInt8]?)] = [
      ("protocol", `protocol`.map { Array($0.utf8) }),
      ("host", host.map { Array($0.utf8) }),
      ("path", path.map { Array($0.utf8) }),
      ("username", username.map { Array($0.utf8) }),
      ("password", password?.withUnsafeBytes { Array($0) }),
      ("password_expiry_utc", passwordExpiry?.withUnsafeBytes { Array($0) }),
      ("oauth_refresh_token", refreshToken?.withUnsafeBytes { Array($0) }),
    ]
    var lines: [UInt8] = []
    for case (let name, let value?) in parts {
      lines += Array("\(name)=".utf8) + (try writable(value, name)) + [UInt8(ascii: "\n")]
    }
    return lines
  }
}
