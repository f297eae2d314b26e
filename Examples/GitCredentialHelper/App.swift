// SPDX-License-Identifier: Apache-2.0

import Keyring

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A credential helper for git.
///
/// Git names an operation and describes a credential on standard input. See
/// [gitcredentials](https://git-scm.com/docs/gitcredentials#_custom_helpers).
@main
struct App {
  static func main() {
    do throws(HelperFailure) {
      try run()
    } catch {
      put(Array("git-credential-keyring: \(error.line)\n".utf8), STDERR_FILENO)
      exit(1)
    }
  }

  private static func run() throws(HelperFailure) {
    if CommandLine.arguments.dropFirst().contains(where: ["--help", "-h"].contains) {
      if !put(Array(usage.utf8), STDOUT_FILENO) { throw .unreadOutput }
      return
    }
    let input = AnyIterator { UInt8(exactly: getchar()) }
    let lines = try CredentialOperation.reply(
      to: CommandLine.arguments.last ?? "", input, in: SecureStorageDefaults.currentStorage)
    if !put(lines, STDOUT_FILENO) { throw .unreadOutput }
  }

  private static let usage = """
    usage: git-credential-keyring (get | store | erase)

    Keeps the passwords that git asks for in your keyring. To let git run it, use this command:

      git config --global credential.helper keyring

    Standard input describes a credential, as documented in gitcredentials(7) and git-credential(1).

    """

  /// Writes all the bytes, and returns `false` if there is no reader.
  @discardableResult
  private static func put(_ bytes: [UInt8], _ descriptor: CInt) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count <= 0 { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
