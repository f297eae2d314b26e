// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Foundation

/// The threads and the open files of this process: see proc(5).
package enum OwnProcess {
  package static func threadCount() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
  }

  /// Returns the path of each open file, or the name of another kind of descriptor.
  package static func openFiles() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
  }
}
#endif
