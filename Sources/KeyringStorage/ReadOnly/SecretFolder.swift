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

/// An open directory whose files are secrets, one each.
package final class SecretFolder {
  /// A file as it was read.
  package struct File {
    /// Its bytes.
    package let content: Secret
    /// When it was last written.
    package let modified: Date
  }

  /// What is wrong with the directory or a file of it.
  package struct Failure: Error {
    /// Which error it comes to; `.noStorage` where there is no such directory.
    package let code: SecureStorageError.Code
    /// What is wrong, in a sentence.
    package let message: String
    /// What to do about it; `nil` where the code's own advice is as good.
    package var advice: String?
    /// What the system said.
    package var underlying: SecureStorageError.Underlying?
  }

  /// Where it is.
  package let path: String
  private let descriptor: Int32

  /// Opens a directory.
  ///
  /// - Parameter path: Where it is.
  /// - Throws: What is wrong with it.
  package init(_ path: String) throws(Failure) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor < 0 else { return }
    throw Failure(errno, "The directory \(path)", whenMissing: .noStorage)
  }

  deinit { close(descriptor) }

  /// Whether a file of secrets can have a name: systemd takes no others (`credential_name_valid`), and
  /// what begins with a dot is for Kubernetes's own use.
  ///
  /// - Parameter name: The name.
  /// - Returns: Whether it can.
  package static func isName(_ name: String) -> Bool {
    (1...255).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: ".")
      && name.utf8.allSatisfy { byte in
        (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "/") && byte != UInt8(ascii: ":")
      }
  }

  /// The names of the files.
  func names() throws(Failure) -> [String] {
    // A directory stream takes its descriptor over; ours may be in use, and has but one position.
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

  /// Reads a file; `nil` when there is none.
  ///
  /// Links are followed: Kubernetes exchanges secrets by them.
  ///
  /// - Parameter name: The name of the file, one that ``isName(_:)`` accepts.
  /// - Returns: What is in it.
  /// - Throws: What is wrong with it.
  package func read(_ name: String) throws(Failure) -> File? {
    // Not to wait for a writer, should it be a pipe.
    let file = openat(descriptor, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    let subject = "The file \(path)/\(name)"
    if file < 0, errno == ENOENT { return nil }
    guard file >= 0 else { throw Failure(errno, subject) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw Failure(errno, subject) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(code: .backend, message: "\(subject) is no regular file.", advice: Self.advice)
    }
    // A byte more, to see the end of the file.
    let room = min(Int(status.st_size), ItemLimits.secretBytes) + 1
    let content = try Secret(capacity: room) { (buffer) throws(Failure) in
      try Self.read(file, into: buffer, subject)
    }
    guard content.count < room else {
      let problem =
        content.count > ItemLimits.secretBytes
        ? "is larger than \(ItemLimits.secretBytes) bytes" : "has grown while it was read"
      throw Failure(code: .backend, message: "\(subject) \(problem).", advice: Self.advice)
    }
    let seconds = Double(status.modification.tv_sec) + Double(status.modification.tv_nsec) / 1e9
    return File(content: content, modified: Date(timeIntervalSince1970: seconds))
  }

  private static let advice = "Correct the file that the service is given."

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

extension SecretFolder.Failure {
  fileprivate init(
    _ number: Int32, _ subject: String, whenMissing: SecureStorageError.Code = .backend
  ) {
    underlying = .init(domain: "errno", code: Int(number), text: String(cString: strerror(number)))
    switch number {
    case EACCES, EPERM:
      code = .accessDenied
      message = "\(subject) may not be read."
      advice = "Start the program as the user that it was given to."
    case ENOENT, ENOTDIR:
      code = whenMissing
      message = "\(subject) is not there."
      advice = "Give the service its secrets, or correct the path."
    default:
      code = .backend
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
