// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// The watches of files and directories that this process has: see inotify(7).
package enum Watches {
  package static func count() throws -> Int {
    try OwnProcess.openFiles().count { $0 == "anon_inode:inotify" }
  }
}
#endif
