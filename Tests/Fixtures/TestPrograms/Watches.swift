// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Foundation

/// The watches of files and directories that this process has: see inotify(7).
package enum Watches {
  package static func count() throws -> Int {
    let files = FileManager.default
    return try files.contentsOfDirectory(atPath: "/proc/self/fd").count {
      let target = try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
      return target == "anon_inode:inotify"
    }
  }
}
#endif
