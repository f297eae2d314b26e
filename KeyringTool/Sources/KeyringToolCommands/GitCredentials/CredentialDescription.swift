// SPDX-License-Identifier: Apache-2.0

import Keyring

/// A description of a credential that git sends or asks for, with one line `name=value` per part.
///
/// The code works on bytes, because Swift treats a `=` and a following combining mark as one character.
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
  /// The expiry time of the password in seconds since 1970, as uninterpreted bytes.
  var passwordExpiry: Secret?
  /// The token that a helper for OAuth uses to get another password.
  var refreshToken: Secret?
  /// The scheme of HTTP for a credential that isn't a password, such as "Bearer" (since git 2.46).
  var authenticationType: String?
  /// The value that git sends after the name of that scheme.
  var credential: Secret?
  /// Whether git asks not to store the credential.
  var isEphemeral = false
  /// Whether git knows credentials that aren't passwords.
  var allowsTypes = false
}

// MARK: - Reading

extension CredentialDescription {
  /// Reads a description up to an empty line or the end.
  ///
  /// - Parameter input: The lines.
  /// - Throws: `HelperFailure` if a line is malformed.
  init(_ input: Secret) throws(HelperFailure) {
    self = try input.withUnsafeBytes { (bytes) throws(HelperFailure) in
      var description = CredentialDescription()
      for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        if line.isEmpty { break }
        try description.read(line)
      }
      return description
    }
  }

  /// Reads one line, and ignores it if its name is unknown.
  ///
  /// - Parameter line: The line without its line break.
  /// - Throws: `HelperFailure` if the line is malformed.
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
    case "authtype": authenticationType = try text(value, "authtype")
    case "credential": credential = Secret(bytes: try writable(value, "credential"))
    case "ephemeral":
      isEphemeral = !["0", "false", "no", ""].contains(try text(value, "ephemeral"))
    case "capability[]": if value.elementsEqual("authtype".utf8) { allowsTypes = true }
    case "url":
      let allowsTypes = allowsTypes
      self = try CredentialDescription(url: Secret(bytes: value))
      self.allowsTypes = allowsTypes
    // Newer versions of git send more parts, including lists such as `wwwauth[]`.
    default: break
    }
  }

  /// Converts a value to text.
  ///
  /// - Parameters:
  ///   - value: The bytes.
  ///   - name: The name of the value.
  /// - Returns: The text.
  /// - Throws: `.notText` or `.unwritableValue`.
  func text(_ value: some Collection<UInt8>, _ name: String) throws(HelperFailure) -> String {
    guard let text = String(validating: try writable(value, name), as: UTF8.self) else {
      throw .notText(name)
    }
    return text
  }

  /// Throws an error if a value can't be written on a line.
  ///
  /// - Parameters:
  ///   - value: The bytes.
  ///   - name: The name of the value.
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
  /// Returns the lines of the description, one for each part that it has.
  ///
  /// - Returns: The lines.
  /// - Throws: `.unwritableValue`.
  func lines() throws(HelperFailure) -> Secret {
    let parts: [(name: String, value: Secret?)] = [
      ("capability[]", credential == nil ? nil : Secret("authtype")),
      ("authtype", authenticationType.map { Secret($0) }),
      ("credential", credential),
      ("protocol", `protocol`.map { Secret($0) }),
      ("host", host.map { Secret($0) }),
      ("path", path.map { Secret($0) }),
      ("username", username.map { Secret($0) }),
      ("password", password),
      ("password_expiry_utc", passwordExpiry),
      ("oauth_refresh_token", refreshToken),
    ]
    var lines: [Secret] = []
    for case (let name, let value?) in parts {
      try value.withUnsafeBytes { (bytes) throws(HelperFailure) in _ = try writable(bytes, name) }
      lines += [Secret("\(name)="), value, Secret("\n")]
    }
    return Secret(joining: lines)
  }
}
