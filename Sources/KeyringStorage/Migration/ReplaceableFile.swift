#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A file that is never changed in place: at every moment it has its old content or its new.
struct ReplaceableFile: Sendable {
  /// The largest file that is read, in bytes: a file of settings is far smaller.
  private static let largest = 16 << 20

  let path: String

  /// Reads the file; `nil` when there is none.
  func read() throws(SecureStorageError) -> Secret? {
    // Not to wait for a writer, should it be a pipe.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0, errno == ENOENT { return nil }
    guard descriptor >= 0 else { throw failure(.read, "cannot be read") }
    defer { close(descriptor) }
    let status = try status(of: descriptor)
    // A byte more, to see the end of the file.
    let room = Int(status.st_size) + 1
    let content = try Secret(capacity: room) { (buffer) throws(SecureStorageError) in
      try read(descriptor, into: buffer)
    }
    guard content.count < room else {
      throw failure(.read, "has grown while it was read", code: .sourceChanged, number: 0)
    }
    return content
  }

  /// Refuses a file that could not be replaced.
  func checkIsReplaceable() throws(SecureStorageError) {
    let folder = try folder(of: realPath())
    guard access(path, W_OK) == 0, access(folder, W_OK | X_OK) == 0 else {
      throw failure(.read, "cannot be changed")
    }
  }

  /// Puts new content in the place of the old, unless somebody else has written meanwhile.
  func replace(_ old: Secret, with new: Secret) throws(SecureStorageError) {
    // A link stays a link.
    let target = try realPath()
    let folder = try folder(of: target)
    var name = Array("\(folder)/.swift-keyring-XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else { throw failure(.remove, "cannot be replaced") }
    var isReplaced = false
    defer {
      close(descriptor)
      if !isReplaced { unlink(name) }
    }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    try giveAttributes(of: target, to: descriptor)
    try write(new, to: descriptor)
    guard fsync(descriptor) == 0 else { throw failure(.remove, "cannot be written anew") }
    guard try read() == old else {
      throw failure(.remove, "was changed meanwhile", code: .sourceChanged, number: 0)
    }
    guard rename(name, target) == 0 else { throw failure(.remove, "cannot be replaced") }
    isReplaced = true
    try syncFolder(folder)
  }

  // MARK: - Parts

  private func status(of descriptor: Int32) throws(SecureStorageError) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(.read, "cannot be read") }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw failure(.read, "is no regular file", code: .invalidArgument, number: 0)
    }
    guard status.st_size <= Self.largest else {
      throw failure(.read, "is too large", code: .invalidArgument, number: 0)
    }
    guard status.st_nlink == 1 else {
      // The secrets would stay under the other name.
      throw failure(.read, "has several names (hard links)", code: .invalidArgument, number: 0)
    }
    return status
  }

  private func read(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SecureStorageError) -> Int {
    var count = 0
    while count < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
      let result = unistdRead(descriptor, rest.baseAddress, rest.count)
      if result < 0, errno == EINTR { continue }
      guard result >= 0 else { throw failure(.read, "cannot be read") }
      if result == 0 { break }
      count += result
    }
    return count
  }

  private func write(
    _ content: Secret, to descriptor: Int32
  ) throws(SecureStorageError) {
    try content.withUnsafeBytes { (bytes) throws(SecureStorageError) in
      var rest = bytes[...]
      while !rest.isEmpty {
        let part = UnsafeRawBufferPointer(rebasing: rest)
        let result = unistdWrite(descriptor, part.baseAddress, part.count)
        if result < 0, errno == EINTR { continue }
        guard result > 0 else { throw failure(.remove, "cannot be written anew") }
        rest = rest.dropFirst(result)
      }
    }
  }

  private func giveAttributes(
    of target: String, to descriptor: Int32
  ) throws(SecureStorageError) {
    var (old, new) = (stat(), stat())
    guard stat(target, &old) == 0, fstat(descriptor, &new) == 0,
      (old.st_uid, old.st_gid) == (new.st_uid, new.st_gid)
        || fchown(descriptor, old.st_uid, old.st_gid) == 0,
      fchmod(descriptor, old.st_mode & 0o7777) == 0
    else { throw failure(.remove, "cannot be replaced by one of the same owner and permissions") }
  }

  private func syncFolder(_ folder: String) throws(SecureStorageError) {
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard descriptor >= 0 else { throw failure(.remove, "may not be on the disk yet") }
    defer { close(descriptor) }
    // Some file systems cannot, and say so.
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw failure(.remove, "may not be on the disk yet")
    }
  }

  private func realPath() throws(SecureStorageError) -> String {
    guard let resolved = realpath(path, nil) else { throw failure(.read, "cannot be found") }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private func folder(of target: String) throws(SecureStorageError) -> String {
    guard let slash = target.lastIndex(of: "/") else { return "." }
    return slash == target.startIndex ? "/" : String(target[..<slash])
  }

  private func failure(
    _ operation: SecureStorageError.Operation, _ problem: String,
    code: SecureStorageError.Code? = nil, number: Int32 = errno
  ) -> SecureStorageError {
    let isDenied = number == EACCES || number == EPERM || number == EROFS
    return SecureStorageError(
      code ?? (isDenied ? .accessDenied : .backend), operation: operation, backend: "file \(path)",
      message: "The file \(problem).", advice: "Correct that, and run the migration again.",
      underlying: number == 0
        ? nil : .init(domain: "errno", code: Int(number), text: String(cString: strerror(number))))
  }
}

// The names are taken within the type.
private let unistdRead = read(_:_:_:)
private let unistdWrite = write(_:_:_:)
