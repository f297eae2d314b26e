// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Glibc
import Testing

/// The memory of this process that is kept from being swapped out.
enum LockedMemory {
  /// Returns the size of the memory that is kept from being swapped out.
  static func kilobytes() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmLck:") })
    return try #require(line.split(separator: " ").dropLast().last.flatMap { Int($0) })
  }

  /// Makes every attempt to lock memory fail from now on.
  static func forbid() throws {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    try #require(setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0)
    // The limit doesn't apply to a process with CAP_IPC_LOCK, which root has; see capset(2).
    typealias Call = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> CInt
    var version3: [UInt32] = [0x2008_0522, 0]
    var sets = [UInt32](repeating: 0, count: 6)
    for name in ["capget", "capset"] {
      let function = unsafeBitCast(try #require(dlsym(nil, name)), to: Call.self)
      try #require(function(&version3, &sets) == 0)
      sets[0] &= ~(1 << 14)
    }
    try #require(mlock(&sets, 1) != 0)
  }
}
#endif
