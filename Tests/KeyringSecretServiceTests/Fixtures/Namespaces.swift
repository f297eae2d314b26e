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
  /// - Parameter directory: A directory of the test, in which the namespace has its own files.
  /// - Returns: The words of the command. None of them contains a space.
  /// - Throws: An error if the tests don't use libsecret.
  static func withoutLibSecret(in directory: String) throws -> [String] {
    let script = """
      set -e
      mount --make-rprivate /
      mkdir -p "$2/libraries"
      mount -t tmpfs tmpfs "$2/libraries"
      mkdir "$2/libraries/all" "$2/libraries/rest"
      mount --bind "$1" "$2/libraries/all"
      ln -s "$2/libraries/all/"* "$2/libraries/rest"
      rm "$2/libraries/rest/"libsecret*
      mount --bind "$2/libraries/rest" "$1"
      shift 2
      status=0
      secret-tool >/dev/null 2>&1 || status=$?
      [ "$status" = 127 ]
      exec "$@"

      """
    let path = directory + "/without-libsecret"
    try script.write(toFile: path, atomically: false, encoding: .utf8)
    try #require(dlopen("libsecret-1.so.0", RTLD_LAZY) != nil)
    let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
    let line = try #require(maps.split(separator: "\n").first { $0.contains("/libsecret-1.so") })
    let library = try #require(line.firstIndex(of: "/").map { String(line[$0...]) })
    let libraries = URL(fileURLWithPath: library).deletingLastPathComponent().path
    return command + ["sh", path, libraries, directory]
  }
}
#endif
