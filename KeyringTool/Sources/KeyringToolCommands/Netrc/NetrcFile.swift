// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// The content of a `.netrc` file, in which programs such as SwiftPM and curl find passwords of servers.
///
/// See [The .netrc file](https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html).
public struct NetrcFile: Sendable {
  /// A server, and the account whose password is in the file.
  public struct Machine: Sendable, Equatable {
    /// The protocol, the name of the server, the port and the path.
    let server: InternetServer
    /// The account, or `nil` if the server has only one.
    public let account: String?

    /// The name of the server, which is all that the file says about it.
    public var host: String { server.host }

    /// Creates a server from a text.
    ///
    /// - Parameter text: The name of the server or its URL, and possibly `=` and the account. The initializer
    ///   returns `nil` if one of the parts is empty.
    public init?(_ text: String) {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.allSatisfy({ !$0.isEmpty }), let place = parts.first else { return nil }
      account = parts.count == 2 ? String(parts[1]) : nil
      let url = #/(?:([^:/]+)://)?([^:/]+|\[[^\]/]+\]|[^/]*:[^/]*:[^/]*)(?::(\d+))?(/.*)?/#
      guard let match = place.wholeMatch(of: url)?.output else { return nil }
      let port = match.3.map { UInt16($0) }
      if case .some(nil) = port { return nil }
      server = InternetServer(
        String(match.2), port: port ?? nil, path: match.4.map(String.init),
        protocol: match.1.map { InternetServer.Scheme(rawValue: $0.lowercased()) })
    }

    /// Returns `true` if a password is for exactly this protocol, port and path.
    func isFor(_ other: InternetServer) -> Bool {
      // Programs that read such files usually talk HTTPS.
      let `protocol` = server.protocol ?? .https
      let defaultPort: UInt16? = [.https: 443, .http: 80][`protocol`]
      func path(_ server: InternetServer) -> [Substring] {
        (server.path ?? "").split(separator: "/")
      }
      return (other.protocol ?? `protocol`) == `protocol`
        && (other.port ?? defaultPort) == (server.port ?? defaultPort)
        && path(other) == path(server)
    }
  }

  private var lines: [UInt8] = []
  /// The passwords in the file.
  public private(set) var passwords: [Secret] = []

  /// Creates an empty file.
  public init() {}

  /// Adds the password of a server.
  ///
  /// - Parameters:
  ///   - machine: The server.
  ///   - storage: The storage of the password.
  /// - Throws: ``ToolFailure`` if there isn't exactly one password, or if it can't be in such a file;
  ///   `SecureStorageError` if the storage can't be read.
  public mutating func add(_ machine: Machine, from storage: any SecureStorage) throws {
    let key = ItemKey.internetPassword(
      server: InternetServer(machine.host), account: machine.account)
    let found = try Self.items(for: key, in: storage)
    // Git's helper may have stored another one, with its own schema. The newest comes first.
    var seen: Set<ItemKey> = []
    let items = Self.preferred(
      found.filter {
        $0.key.server.map(machine.isFor) == true
          && seen.insert($0.key.with(schema: nil)).inserted
      }, for: machine.server)
    guard let item = items.first, let secret = item.secret else {
      throw Self.missing(key, isElsewhere: !found.isEmpty)
    }
    guard items.count == 1 else {
      let host = machine.host.printable
      let areAccounts = Set(items.map(\.key.account)).count > 1
      throw ToolFailure(
        "There are \(items.count) passwords for \(host).",
        recoverySuggestion: areAccounts
          ? "Specify the account, as in --netrc \(host)=account."
          : "They have the same account. List them with \"list --server \(host)\", and remove all but one.",
        status: .ambiguous)
    }
    let password = CredentialDescription(stored: secret).password ?? secret
    passwords.append(password)
    // Python compares the case of hosts. Most programs write them in lower case, whatever the user does.
    for host in Set([machine.host, machine.host.lowercased()]).sorted(by: >) {
      // Registries that know only tokens ignore the login.
      let login = item.key.account.flatMap { $0.isEmpty ? nil : $0 } ?? "token"
      var line = Array("machine ".utf8) + (try Self.token(Array(host.utf8), key))
      line += Array(" login ".utf8) + (try Self.token(Array(login.utf8), key))
      line +=
        Array(" password ".utf8) + (try Self.token(password.withUnsafeBytes { Array($0) }, key))
      line.append(UInt8(ascii: "\n"))
      guard line.count <= Self.longestLine else {
        throw Self.unwritable(key, "curl reads only lines of up to \(Self.longestLine) bytes.")
      }
      lines += line
    }
  }

  /// The length at which curl (7.88 to 8.14) still reads a line, with its end.
  private static let longestLine = 4095

  /// Returns the items of a server, whose name may be written in another case.
  private static func items(
    for key: ItemKey, in storage: any SecureStorage
  ) throws -> [SecureItem] {
    var query = ItemQuery(kind: key.kind, attributes: key.attributes, details: .secret)
    query.leavesForeignItems = true
    let items = try storage.items(matching: query)
    if !items.isEmpty { return items }
    query.ignoresCase = true
    query.details = .metadata
    let keys = try storage.items(matching: query).map(\.key)
      .filter { $0.account == key.account || key.account == nil }
    return Array(try storage.items(for: keys, details: .secret).values)
  }

  /// The content.
  public var content: Secret { Secret(bytes: lines) }

  /// Returns the items that fit the server best, if all of them have the same account.
  private static func preferred(
    _ items: [SecureItem], for server: InternetServer
  ) -> [SecureItem] {
    let accounts = Set(items.map(\.key.account))
    guard let account = accounts.first, accounts.count == 1 else { return items }
    let simple = ItemKey.internetPassword(server: server, account: account)
    let choices = [
      items.filter { $0.key.with(schema: nil) == simple },
      items.filter { $0.key.server?.protocol == nil },
    ]
    return choices.first { !$0.isEmpty } ?? items
  }

  /// Returns a word, if every reader of such files understands it.
  ///
  /// A backslash begins an escape for Python, but not for SwiftPM.
  private static func token(_ bytes: [UInt8], _ key: ItemKey) throws -> [UInt8] {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw unwritable(key, "Python and SwiftPM read only text in UTF-8.")
    }
    let isPlain = text.unicodeScalars.allSatisfy {
      !$0.properties.isWhitespace && $0.properties.generalCategory != .control && $0 != "\\"
    }
    guard isPlain, let first = bytes.first, !"\"#".utf8.contains(first) else {
      throw unwritable(
        key,
        "Use a password without spaces and backslashes that doesn't begin with a quote or \"#\".")
    }
    return bytes
  }

  private static func unwritable(_ key: ItemKey, _ reason: String) -> ToolFailure {
    ToolFailure(
      "The \(key.description.printable) can't be in a .netrc file.", recoverySuggestion: reason)
  }

  private static func missing(_ key: ItemKey, isElsewhere: Bool) -> ToolFailure {
    let host = key.server?.host.printable ?? ""
    return ToolFailure(
      "There is no \(key.description.printable)\(isElsewhere ? " for this protocol, port and path" : "").",
      recoverySuggestion: isElsewhere
        ? "List others with \"list --server \(host)\", and name one as in --netrc http://\(host):8080/path."
        : "Store it with \"set --server\".",
      status: .notFound)
  }
}
