// SPDX-License-Identifier: Apache-2.0

internal import KeyringMigration

/// A format of files in which programs keep secrets as plain text.
public enum PlaintextFileFormat: String, Sendable, CaseIterable {
  /// Lines `NAME=value`.
  case environment = "env"
  /// A JSON object.
  case json
  /// Passwords of servers, for curl and others.
  case netrc
  /// The URLs of git's helper `store`.
  case gitCredentials = "git-credentials"
  /// Docker's `config.json`, or its older `.dockercfg`.
  case docker

  /// Determines the format of a file by its name, or by how its content begins.
  ///
  /// - Parameter path: The path of the file. The initializer returns `nil` if the format isn't clear.
  /// - Throws: ``ToolFailure`` if the file doesn't exist or can't be opened; `SecureStorageError` if it looks like
  ///   JSON, but can't be read as JSON.
  public init?(ofFileAt path: String) throws {
    try Self.checkFile(at: path)
    guard let format = Self.format(named: path) ?? Self.format(beginning: Self.beginning(path))
    else { return nil }
    guard format == .json else {
      self = format
      return
    }
    // A file for docker has the name of any other.
    let isForDocker = try PlaintextSource.jsonFile(path).entries().contains {
      $0.path.count > 2 && $0.path[0] == "auths"
    }
    self = isForDocker ? .docker : .json
  }

  /// Throws an error if a file doesn't exist or can't be opened.
  ///
  /// - Parameter path: The path of the file.
  /// - Throws: ``ToolFailure``.
  public static func checkFile(at path: String) throws(ToolFailure) {
    if access(path, R_OK) == 0 { return }
    throw errno == EACCES
      ? ToolFailure(
        "The file \(path.printable) can't be read.",
        recoverySuggestion: "Allow yourself to read it and its directories.", status: .denied)
      : ToolFailure(
        "There is no file \(path.printable).", recoverySuggestion: "Check the path.",
        status: .notFound)
  }

  private static func format(named path: String) -> Self? {
    let name = String(path.split(separator: "/").last ?? "").lowercased()
    if name == "netrc" || name == "_netrc" || name.hasSuffix(".netrc") { return .netrc }
    if name.hasSuffix("git-credentials") || path.hasSuffix("git/credentials") {
      return .gitCredentials
    }
    if name.hasPrefix(".env") || name.hasSuffix(".env") { return .environment }
    if path.hasSuffix(".docker/config.json") || name.hasSuffix("dockercfg") { return .docker }
    return name.hasSuffix(".json") ? .json : nil
  }

  private static func format(beginning bytes: [UInt8]) -> Self? {
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    let line = lines.first { !$0.allSatisfy(\.isWhitespace) && !$0.hasPrefix("#") } ?? ""
    if line.firstMatch(of: #/^\uFEFF?\s*\{/#) != nil { return .json }
    if line.firstMatch(of: #/^\s*(machine|default|macdef)(\s|$)/#) != nil { return .netrc }
    if line.firstMatch(of: #/^[A-Za-z][A-Za-z0-9+.-]*://[^\s\/@]*:[^\s\/@]*@/#) != nil {
      return .gitCredentials
    }
    return line.firstMatch(of: #/^\s*(export\s+)?[A-Za-z_][A-Za-z0-9_.-]*\s*=/#) == nil
      ? nil : .environment
  }

  private static func beginning(_ path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }

  /// Returns the values of a file of this format.
  func source(_ path: String) -> PlaintextSource {
    switch self {
    case .environment: .environmentFile(path)
    case .json, .docker: .jsonFile(path)
    case .netrc: .file(path, entries: NetrcFormat.entries)
    case .gitCredentials: .file(path, entries: GitCredentialsFormat.entries)
    }
  }

  /// Whether the values belong to a service that the user has to name.
  public var needsService: Bool { self == .environment || self == .json }
}
