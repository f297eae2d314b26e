// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

/// Mount namespaces for one test, made by root or by a user who is root in them.
enum Namespaces {
  static let command =
    ["unshare", "--mount"] + (geteuid() == 0 ? [] : ["--user", "--map-root-user"])

  static let areAllowed: Bool = {
    let words = command + ["true"]
    let program = try? Program(
      words[0], Array(words.dropFirst()), complaints: .nullDevice)
    return (try? program?.finish().status) == 0
  }()

  /// Returns a command that runs another one where libsecret isn't installed.
  ///
  /// The system's libraries are there under links, except libsecret. Another program that needs it doesn't start.
  ///
  /// - Parameters:
  ///   - directory: A directory of the test, in which the namespace has its own files.
  ///   - isDamaged: A Boolean value that indicates whether there is an empty file in its place.
  /// - Returns: The words of the command. None of them contains a space.
  /// - Throws: An error if the script can't be written.
  static func withoutLibSecret(in directory: String, isDamaged: Bool = false) throws -> [String] {
    let script = """
      set -e
      mount --make-rprivate /
      system=$(/sbin/ldconfig -p | sed -n 's|.*libsecret-1.so.0 .*=> \\(.*\\)/.*|\\1|p' | head -n 1)
      libraries=$1/libraries
      mkdir -p "$libraries"
      mount -t tmpfs tmpfs "$libraries"
      mkdir "$libraries/all" "$libraries/rest"
      mount --bind "$system" "$libraries/all"
      ln -s "$libraries/all/"* "$libraries/rest"
      rm "$libraries/rest/"libsecret*
      \(isDamaged ? "touch \"$libraries/rest/libsecret-1.so.0\"" : "")
      mount --bind "$libraries/rest" "$system"
      shift
      command -v secret-tool >/dev/null
      status=0
      secret-tool >/dev/null 2>&1 || status=$?
      [ "$status" = 127 ]
      exec "$@"

      """
    let path = directory + "/without-libsecret"
    try script.write(toFile: path, atomically: false, encoding: .utf8)
    return command + ["sh", path, directory]
  }
}
#endif
