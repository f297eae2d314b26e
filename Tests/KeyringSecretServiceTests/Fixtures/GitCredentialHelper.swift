// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

/// The program git-credential-libsecret, of the installed git.
struct GitCredentialHelper {
  private let path: String

  private static let installed = ["/usr/libexec/git-core", "/usr/lib/git-core", "/usr/lib/git"]
    .map { $0 + "/git-credential-libsecret" }.first(where: FileManager.default.fileExists(atPath:))

  /// The program, which Debian has only as its source.
  init() throws {
    if let installed = Self.installed {
      path = installed
      return
    }
    path = Program.path(of: "git-credential-libsecret")
    let script = Program.pathOfScript("build-git-credential")
    try #require(try Program(script, [path]).finish().status == 0)
  }

  /// Whether the program is installed, or can be compiled.
  static var canBeUsed: Bool {
    func runs(_ program: String, _ arguments: String...) -> Bool {
      (try? Program(program, arguments, complaints: .nullDevice).finish().status) == 0
    }
    return installed != nil
      || FileManager.default.fileExists(
        atPath: "/usr/share/doc/git/contrib/credential/libsecret/git-credential-libsecret.c")
        && runs("pkg-config", "--exists", "libsecret-1")
        && (runs("clang", "--version") || runs("cc", "--version"))
  }

  /// Runs an operation as git does, and returns the password that the program prints.
  @discardableResult
  func run(_ operation: String, _ description: [String: String]) throws -> String? {
    func run() throws -> (status: Int32, output: Data) {
      let lines = description.map { "\($0)=\($1)\n" }.joined()
      return try Program(path, [operation]).finish(input: Data((lines + "\n").utf8))
    }
    var result = try run()
    // KWallet 5.103 can't use the keys of about one session in 256.
    if Provider.current == .kwallet, result.status != 0 { result = try run() }
    try #require(result.status == 0)
    return String(decoding: result.output, as: UTF8.self).split(separator: "\n")
      .first { $0.hasPrefix("password=") }.map { String($0.dropFirst(9)) }
  }
}
#endif
