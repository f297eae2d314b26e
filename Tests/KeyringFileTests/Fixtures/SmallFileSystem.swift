// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import Foundation
import TestPrograms

/// A file system in memory with little room, which is mounted until its release.
final class SmallFileSystem: Sendable {
  /// The result of an attempt to mount a file system in this process.
  static let canBeMounted: Bool = {
    let directory = TemporaryDirectory()
    // The file system is unmounted before the directory is removed.
    return withExtendedLifetime(directory) {
      (try? SmallFileSystem(at: directory.path("tried"), kibibytes: 4)) != nil
    }
  }()

  private let path: String

  init(at path: String, kibibytes: Int) throws {
    self.path = path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    guard mount("none", path, "tmpfs", 0, "size=\(kibibytes)k") == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
    }
  }

  deinit { umount2(path, Int32(MNT_DETACH)) }

  func makeReadOnly() throws {
    let flags = UInt(MS_REMOUNT | MS_RDONLY)
    let end = ContinuousClock.now + .seconds(10)
    // A program that another test starts has our files open until it begins.
    while mount("none", path, "tmpfs", flags, nil) != 0 {
      guard errno == EBUSY, ContinuousClock.now < end else {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
      }
      sched_yield()
    }
  }
}

/// Calls [setfsuid(2)](https://man7.org/linux/man-pages/man2/setfsuid.2.html).
///
/// Swift's module of the C library leaves this function out.
@_silgen_name("setfsuid") private func setfsuid(_ user: uid_t) -> CInt

extension TemporaryDirectory {
  /// Runs a closure without the privileges of root.
  ///
  /// On Linux, each thread has its own user for access to files.
  func withoutPrivileges<Result>(_ body: () throws -> Result) throws -> Result {
    if geteuid() != 0 { return try body() }
    let nobody: uid_t = 65534
    for name in try names() { chown(path(name), nobody, getgid()) }
    chown(path, nobody, getgid())
    _ = setfsuid(nobody)
    defer { _ = setfsuid(0) }
    return try body()
  }
}
#endif
