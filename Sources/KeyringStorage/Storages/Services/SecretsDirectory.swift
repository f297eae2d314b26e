#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// An open directory in which each file is a secret.
package final class SecretsDirectory {
  /// The content of a file, and the time it was last written.
  package struct File {
    /// The bytes of the file.
    package let content: Secret
    /// The time at which the file was last written.
    package let modified: Date
  }

  /// An error about the directory or one of its files.
  package struct Failure: Error {
    /// The code of the error, which is `.noStorage` if there is no such directory.
    package let code: SecureStorageError.Code
    /// The description of the problem, as a sentence.
    package let message: String
    /// The advice for the user, or `nil` if the code's own advice is good enough.
    package var recoverySuggestion: String?
    /// The error that the system reported.
    package var underlying: SecureStorageError.Underlying?
  }

  /// The path of the directory.
  package let path: String
  private let descriptor: Int32

  /// Opens a directory.
  ///
  /// - Parameter path: The path of the directory.
  /// - Throws: `Failure` if the directory can't be opened.
  package init(_ path: String) throws(Failure) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor < 0 else { return }
    throw Failure(errno, "The directory \(path)", whenMissing: .noStorage)
  }

  deinit { close(descriptor) }

  /// Returns whether a file with a name can be a secret.
  ///
  /// Like systemd (`credential_name_valid`), it accepts 1 to 255 printable ASCII characters without "/" and
  /// ":". Of the names that begin with a dot, systemd refuses only "." and "..". This method refuses all of
  /// them, because Kubernetes puts such entries into the directory for its own purposes.
  ///
  /// - Parameter name: The name of the file.
  /// - Returns: `true` if the file can be a secret.
  package static func isName(_ name: String) -> Bool {
    (1...255).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: ".")
      && name.utf8.allSatisfy { byte in
        (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "/") && byte != UInt8(ascii: ":")
      }
  }

  /// Returns the names of the files.
  func names() throws(Failure) -> [String] {
    // A directory stream takes over its descriptor, and a descriptor has only one position. Ours may be in
    // use, so the stream gets another one.
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard let stream = fdopendir(copy) else {
      let number = errno
      close(copy)
      throw Failure(number, "The directory \(path)", whenMissing: .noStorage)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      var status = stat()
      guard Self.isName(name), fstatat(descriptor, name, &status, 0) == 0,
        status.st_mode & S_IFMT == S_IFREG
      else { continue }
      names.append(name)
    }
    return names
  }

  /// Reads a file.
  ///
  /// It follows symbolic links, because Kubernetes uses them to replace secrets.
  ///
  /// - Parameter name: The name of the file, which ``isName(_:)`` must accept.
  /// - Returns: The content of the file, or `nil` if there is no such file.
  /// - Throws: `Failure` if the file can't be read.
  package func read(_ name: String) throws(Failure) -> File? {
    // If the file is a pipe, O_NONBLOCK keeps the call from waiting for a writer.
    let file = openat(descriptor, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    let subject = "The file \(path)/\(name)"
    if file < 0, errno == ENOENT { return nil }
    guard file >= 0 else { throw Failure(errno, subject) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw Failure(errno, subject) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(
        code: .other, message: "\(subject) is no regular file.",
        recoverySuggestion: Self.recoverySuggestion)
    }
    // Read one more byte than the size, to see the end of the file.
    let room = min(Int(status.st_size), ItemLimits.secretBytes) + 1
    let content = try Secret(capacity: room) { (buffer) throws(Failure) in
      try Self.read(file, into: buffer, subject)
    }
    guard content.count < room else {
      let problem =
        content.count > ItemLimits.secretBytes
        ? "is larger than \(ItemLimits.secretBytes) bytes" : "has grown while it was read"
      throw Failure(
        code: .other, message: "\(subject) \(problem).", recoverySuggestion: Self.recoverySuggestion
      )
    }
    let seconds = Double(status.modification.tv_sec) + Double(status.modification.tv_nsec) / 1e9
    return File(content: content, modified: Date(timeIntervalSince1970: seconds))
  }

  private static let recoverySuggestion = "Correct the file."

  private static func read(
    _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, _ subject: String
  ) throws(Failure) -> Int {
    var count = 0
    while count < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
      let result = pread(file, rest.baseAddress, rest.count, off_t(count))
      if result < 0, errno == EINTR { continue }
      guard result >= 0 else { throw Failure(errno, subject) }
      if result == 0 { break }
      count += result
    }
    return count
  }
}

extension SecretsDirectory.Failure {
  fileprivate init(
    _ number: Int32, _ subject: String, whenMissing: SecureStorageError.Code = .other
  ) {
    underlying = .init(domain: "errno", code: Int(number), text: String(cString: strerror(number)))
    switch number {
    case EACCES, EPERM:
      code = .accessDenied
      message = "\(subject) may not be read."
      recoverySuggestion = "Run the program as the user that owns it."
    case ENOENT, ENOTDIR:
      code = whenMissing
      message = "\(subject) is not there."
      recoverySuggestion = "Pass the secrets to the service, or correct the path."
    default:
      code = .other
      message = "\(subject) cannot be read."
    }
  }
}

extension stat {
  fileprivate var modification: timespec {
    #if canImport(Darwin)
    st_mtimespec
    #else
    st_mtim
    #endif
  }
}
