// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

extension Namespaces {
  static let withoutUserIsAllowed = isAllowed(withoutUser)

  /// A user namespace without IDs, in which D-Bus can't prove who the user is.
  static let withoutUser = ["unshare", "--user"]

  /// A damage to libsecret.
  enum Damage: String {
    /// The file is empty.
    case empty = "truncate --size 0"
    /// A function that it calls isn't in the installed GLib, which is older.
    ///
    /// Some distributions link their libraries so that this is noticed when they're loaded (BIND_NOW, with RELRO). The
    /// file says so no longer.
    case newer = #"""
      sed -i -e 's/\x00g_task_new\x00/\x00g_task_neW\x00/' -e 's/\x52\xe5\x74\x64/\x00\x00\x00\x00/' \
        -e 's/\x1e\x00\{7\}\x08\x00/\x1e\x00\x00\x00\x00\x00\x00\x00\x00\x00/' \
        -e 's/\xfb\xff\xff\x6f\x00\{4\}\x01\x00/\xfb\xff\xff\x6f\x00\x00\x00\x00\x00\x00/'
      """#
    /// A library that it needs isn't installed.
    case lonely = "sed -i 's/libgio-2.0.so.0/libgio-2.0.so.9/'"
  }

  /// Returns a command that runs another one where libsecret isn't installed.
  ///
  /// The system's libraries are there under links, except libsecret. Another program that needs it doesn't start.
  ///
  /// - Parameters:
  ///   - directory: A directory of the test, in which the namespace has its own files.
  ///   - damage: The damage to the library if it's installed.
  /// - Returns: The words of the command. None of them contains a space.
  /// - Throws: An error if the script can't be written.
  static func withoutLibSecret(in directory: String, damage: Damage? = nil) throws -> [String] {
    let file = "\"$libraries/rest/libsecret-1.so.0\""
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
      \(damage.map { "cp \"$libraries/all/libsecret-1.so.0\" \(file); \($0.rawValue) \(file)" } ?? "")
      mount --bind "$libraries/rest" "$system"
      shift
      command -v secret-tool >/dev/null
      status=0
      LD_BIND_NOW=1 secret-tool >/dev/null 2>&1 || status=$?
      [ "$status" = 127 ]
      exec "$@"

      """
    let path = directory + "/without-libsecret"
    try script.write(toFile: path, atomically: false, encoding: .utf8)
    return command + ["sh", path, directory]
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips the test, and gives the reason, where it can't mount anything.
  static var withMountNamespaces: Self {
    .enabled(if: Namespaces.areAllowed, "this machine doesn't allow mount namespaces")
  }
}
#endif
