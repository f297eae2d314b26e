// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation

/// Mount namespaces for one test, made by root or by a user who is root in them.
package enum Namespaces {
  package static let command =
    ["unshare", "--mount"] + (geteuid() == 0 ? [] : ["--user", "--map-root-user"])

  package static let areAllowed = mustBeComplete || isAllowed(command)

  package static func isAllowed(_ command: [String]) -> Bool {
    let words = command + ["true"]
    let program = try? Program(words[0], Array(words.dropFirst()), complaints: .nullDevice)
    return (try? program?.finish().status) == 0
  }

  /// Whether the script `fuse-mirror.py` may mount its file system.
  package static let mirrorIsAllowed: Bool = {
    if mustBeComplete { return true }
    let mountpoint = "/tmp/swift-keyring-\(UUID().uuidString)"
    guard mkdir(mountpoint, 0o700) == 0 else { return false }
    defer { rmdir(mountpoint) }
    guard let mirror = try? Program.script("fuse-mirror.py", ["/", mountpoint]) else {
      return false
    }
    defer { _ = try? mirror.finish() }
    return (try? mirror.readLine()) == "ready"
  }()

  /// Whether the machine of these tests must be able to run all of them.
  private static let mustBeComplete =
    ProcessInfo.processInfo.environment["KEYRING_TEST_COMPLETE"] != nil
}
#endif
