// SPDX-License-Identifier: Apache-2.0

import Contending
import Glibc

/// Reads all bytes of a file, which is the least that opening a file takes.
struct BareFileRead: Work {
  let path: String
  private var bytes: [UInt8] = []

  init(path: String) { self.path = path }

  mutating func perform() throws { bytes = try contents(of: path) }
  func check() throws { if bytes.isEmpty { throw Failure("the file wasn't read") } }
}

/// Replaces a file safely, with the fewest steps that this takes.
///
/// It writes a new file to the disk, which then replaces the old file. The replacement is written to the
/// disk too.
struct BareFileWrite: Work {
  private let bytes: [UInt8]
  private let path: String
  private let directory: String

  /// Creates a work that writes the bytes of a file to another file beside it.
  init(path: String) throws {
    bytes = try contents(of: path)
    self.path = path + ".bare"
    directory = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }

  func prepare() { unlink(path + ".new") }

  func perform() throws {
    let file = try must(open(path + ".new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600), "open")
    defer { close(file) }
    let count = try must(bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }, "write")
    guard count == bytes.count else { throw Failure("not all bytes were written") }
    try must(fsync(file), "fsync")
    try must(rename(path + ".new", path), "rename")
    let descriptor = try must(open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open")
    defer { close(descriptor) }
    try must(fsync(descriptor), "fsync")
  }

  func check() throws {
    guard try contents(of: path) == bytes else { throw Failure("the file wasn't written") }
  }
}

private func contents(of path: String) throws -> [UInt8] {
  let file = try must(open(path, O_RDONLY | O_CLOEXEC), "open")
  defer { close(file) }
  var status = stat()
  try must(fstat(file, &status), "fstat")
  let size = Int(status.st_size)
  return try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
    count = try must(read(file, buffer.baseAddress, size), "read")
  }
}

@discardableResult
private func must<Number: SignedInteger>(_ result: Number, _ call: String) throws -> Number {
  if result < 0 { throw Failure("\(call): \(String(cString: strerror(errno)))") }
  return result
}
