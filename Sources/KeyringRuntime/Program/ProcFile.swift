// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import KeyringPlatform

/// A file of the system that's at most one page long, as described in proc(5).
package enum ProcFile {
  /// Returns the text of a file.
  ///
  /// - Parameter path: The path of the file.
  /// - Returns: The text, or `nil` for an unreadable file.
  package static func text(_ path: String) -> String? {
    guard let file = try? OpenFile.reading(path) else { return nil }
    return text { address, size in read(file.descriptor, address, size) }
  }

  /// Returns the target of a symbolic link.
  ///
  /// - Parameter path: The path of the link.
  /// - Returns: The target, or `nil` for an unreadable link.
  package static func link(_ path: String) -> String? {
    text { address, size in readlink(path, address, size) }
  }

  /// Returns the name of the program that a process runs.
  ///
  /// In a sandbox, the number may be that of another process.
  ///
  /// - Parameter process: The number of the process.
  /// - Returns: The name, or `nil` for a process that can't be seen.
  package static func programName(of process: some BinaryInteger) -> String? {
    if let path = link("/proc/\(process)/exe"), let name = path.split(separator: "/").last {
      return String(name)
    }
    return text("/proc/\(process)/comm")?.split(separator: "\n").first.map(String.init)
  }

  /// Returns the time at which a process was started, in ticks since the start of the machine.
  ///
  /// - Parameter process: The number of the process.
  /// - Returns: The time, or `nil` for a process that can't be seen.
  package static func startTicks(of process: some BinaryInteger) -> Int? {
    guard let text = text("/proc/\(process)/stat"), let name = text.lastIndex(of: ")") else {
      return nil
    }
    // It's the 22nd field, and the name in parentheses is the second one: see proc_pid_stat(5).
    let fields = text[name...].split(separator: " ")
    return fields.count > 20 ? Int(fields[20]) : nil
  }

  /// Returns a text that no other process has, neither on another machine nor in another container.
  ///
  /// - Parameter process: The number of the process.
  /// - Returns: The text, or `nil` for a process that can't be seen.
  package static func identity(of process: some BinaryInteger) -> String? {
    guard let boot = text("/proc/sys/kernel/random/boot_id"), let space = link("/proc/self/ns/pid"),
      let start = startTicks(of: process)
    else { return nil }
    return "\(boot)\(space) \(process) \(start)"
  }

  private static func text(
    _ fill: (UnsafeMutableRawPointer, Int) -> Int
  ) -> String? {
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      guard let address = buffer.baseAddress else { return nil }
      let count = fill(address, buffer.count)
      return count >= 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
  }
}
#endif
