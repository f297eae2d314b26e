// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import KeyringStorage

/// A private directory in memory with a file for each secret, as systemd gives it to a service.
///
/// See [systemd.exec(5)](https://www.freedesktop.org/software/systemd/man/systemd.exec.html), section
/// "Credentials".
public struct CredentialsDirectory {
  /// The path of the directory.
  public let path: String

  /// Creates an empty directory that only this user can read.
  ///
  /// - Throws: ``ToolFailure`` if there is no directory in memory.
  public init() throws {
    let candidates = [getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }, "/dev/shm"]
    guard
      let base = candidates.compactMap(\.self)
        .first(where: { Self.isSafe($0) && Self.isInMemory($0) })
    else {
      throw ToolFailure(
        "There is no directory in memory for the secrets.",
        recoverySuggestion: "Set XDG_RUNTIME_DIR, or pass the secrets with --env.")
    }
    var template = Array("\(base)/keyring-tool.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Self.unwritable(base) }
    path = template.withUnsafeBufferPointer { buffer in
      buffer.baseAddress.map { String(cString: $0) } ?? ""
    }
  }

  /// Uses a directory that another process has created and removes.
  ///
  /// - Parameter path: The path of the directory.
  public init(path: String) { self.path = path }

  /// Returns `true` if a text can be the name of a file in the directory.
  ///
  /// - Parameter name: The text.
  /// - Returns: `true` if it names a file and no other place.
  public static func isName(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && !name.contains("/")
      && !name.utf8.contains(0) && name.utf8.count <= 255
  }

  /// Writes files that only this user can read.
  ///
  /// - Parameter secrets: The secrets, by the names of their files.
  /// - Throws: ``ToolFailure`` if a file can't be written.
  public func add(_ secrets: [String: Secret]) throws {
    for (name, secret) in secrets { try add(secret, at: "\(path)/\(name)") }
  }

  /// Removes the directory with its files, and the files that were added to it.
  public func remove() {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
      unlink("\(path)/\(name)")
    }
    rmdir(path)
  }

  /// Returns `true` if no other user can put something else in the place of a directory in this one.
  private static func isSafe(_ directory: String) -> Bool {
    var status = stat()
    guard stat(directory, &status) == 0, [0, geteuid()].contains(status.st_uid) else {
      return false
    }
    return status.st_mode & 0o022 == 0 || status.st_mode & mode_t(S_ISVTX) != 0
  }

  /// Returns `true` if a directory can be written, and never reaches a disk except as swap space.
  private static func isInMemory(_ directory: String) -> Bool {
    guard directory.hasPrefix("/"), access(directory, W_OK | X_OK) == 0 else { return false }
    let mounts = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
    // The innermost place that has the directory determines its file system. Of two with the same place, it's
    // the one that was mounted later.
    var innermost = (place: "", type: "")
    for line in mounts.split(separator: "\n") {
      // The device, the place, the type, and more.
      let words = line.split(separator: " ").map(String.init)
      guard words.count > 2, words[1].count >= innermost.place.count else { continue }
      let prefix = words[1] == "/" ? "/" : words[1] + "/"
      if "\(directory)/".hasPrefix(prefix) { innermost = (words[1], words[2]) }
    }
    return ["tmpfs", "ramfs"].contains(innermost.type)
  }

  private func add(_ secret: Secret, at file: String) throws {
    let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o400)
    guard descriptor >= 0 else { throw Self.unwritable(file) }
    defer { close(descriptor) }
    try secret.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let part = UnsafeRawBufferPointer(rebasing: rest)
        let count = write(descriptor, part.baseAddress, part.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw Self.unwritable(file) }
        rest = rest.dropFirst(count)
      }
    }
  }

  private static func unwritable(_ path: String) -> ToolFailure {
    ToolFailure(
      "\(path.printable) can't be written.",
      recoverySuggestion: "Check its file system, or pass the secrets with --env.")
  }
}
