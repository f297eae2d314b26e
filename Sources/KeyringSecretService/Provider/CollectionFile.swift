// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringPlatform
internal import KeyringRuntime

/// The file in which a provider keeps a collection.
///
/// gnome-keyring 42.1 to 51.1 keeps each collection in a file of the directory "keyrings". It encrypts the file
/// unless the collection's password is empty. Without a password, the file is text, in the format of GLib's
/// key files. gnome-keyring writes secrets into that file without any escapes, and reads them with escapes.
struct CollectionFile: Equatable {
  /// The times at which the collection was created and changed, in seconds.
  ///
  /// gnome-keyring 42.1 to 51.1 swaps both each time that it reads a file, and never updates the second. In no
  /// particular order, they tell a collection from others with the same identifier.
  struct Times: Equatable {
    private let earlier: UInt64
    private let later: UInt64

    init(_ one: UInt64, _ other: UInt64) { (earlier, later) = (min(one, other), max(one, other)) }

    /// `true` for times by which a collection can be recognized.
    fileprivate var areKnown: Bool { later > 0 }
  }

  enum Content: Equatable {
    case encrypted
    case text
    /// Something that the provider can't read, so that it doesn't list the collection.
    case damaged
    /// Something that this program isn't allowed to read.
    case unreadable
  }

  let path: String
  let content: Content
  var times: Times?
  /// The label of the collection, or `nil` if the file doesn't tell.
  var label: String?
  /// The time at which the file was changed or put in its place, in seconds since 1970.
  var changed: Double = 0

  /// The parts of a file that identify its collection.
  struct Identity: Equatable {
    /// The name of the file without its ending.
    ///
    /// If that file exists already, the name of a new collection's file has a number at the end.
    let name: String
    /// The times, or `nil` for a listed collection whose times are unknown.
    let times: Times?

    /// Creates an identity from the last element of a collection's path, and the collection's times.
    ///
    /// gnome-keyring 42.1 to 51.1 replaces each byte that isn't a letter or a digit by `_` and two hexadecimal
    /// digits.
    init(pathElement: some StringProtocol, times: Times?) {
      var rest = pathElement.utf8[...]
      var name: [UInt8] = []
      while let byte = rest.popFirst() {
        let digits = String(decoding: rest.prefix(2), as: UTF8.self)
        if byte == UInt8(ascii: "_"), digits.utf8.count == 2, let escaped = UInt8(digits, radix: 16)
        {
          name.append(escaped)
          rest.removeFirst(2)
        } else {
          name.append(byte)
        }
      }
      self.name = String(decoding: name, as: UTF8.self)
      self.times = times
    }
  }

  /// Returns `true` for the collection whose file this is.
  func isOf(_ collection: Identity) -> Bool {
    guard collection.times?.areKnown == true, times == collection.times,
      name.hasPrefix(collection.name)
    else {
      return false
    }
    let number = name.dropFirst(collection.name.count)
    return number.isEmpty || number.first == "_" && Int(number.dropFirst()) != nil
  }

  /// Returns the files that are those of none of these collections.
  ///
  /// Without another file with that name and a number, the file with a collection's name is the collection's.
  static func unlisted(
    _ files: [CollectionFile], listing collections: [Identity]
  ) -> [CollectionFile] {
    let replaced = replacedNames(among: files.map(\.name))
    return files.filter { file in
      file.times?.areKnown != false
        && !collections.contains {
          file.isOf($0) || file.name == $0.name && !replaced.contains(file.name)
        }
    }
  }

  /// Returns the file as it is now, or `nil` for the file of another collection.
  func refreshed() throws(FileFailure) -> CollectionFile? {
    try Self.file(at: path).flatMap { $0.times == times ? $0 : nil }
  }
}

// MARK: - Finding files

extension CollectionFile {
  /// The directories in which providers keep the user's collections.
  ///
  /// The provider may use others, because its environment can differ from that of this process. A file in one
  /// of these directories is the provider's only if its name and its times are those that the provider reports.
  static var directories: [String] {
    let home = EnvironmentVariable.path("HOME")
    let paths = [
      EnvironmentVariable.path("XDG_DATA_HOME"), home.map { $0 + "/.local/share" },
      home.map { $0 + "/.gnome2" },
    ].compactMap { $0.map { $0 + "/keyrings" } }
    return paths.enumerated().filter { !paths[..<$0].contains($1) }.map(\.element)
  }

  /// Returns the files of all collections in a directory.
  static func files(in directory: String) throws(FileFailure) -> [CollectionFile] {
    try names(in: directory).sorted().map { (name) throws(FileFailure) in
      try file(at: "\(directory)/\(name)\(suffix)")
    }.compactMap(\.self)
  }

  /// Returns the names of all files in a directory, without their ending.
  private static func names(in directory: String) throws(FileFailure) -> [String] {
    do throws(FileFailure) {
      return try OpenFile.directory(directory).names().filter { $0.hasSuffix(suffix) }
        .map { String($0.dropLast(suffix.count)) }
    } catch {
      // A sandbox may hide the directory.
      if error.isMissing || error.hasNoDirectory || error.code == .accessDenied { return [] }
      throw error
    }
  }

  /// Returns `true` for a directory in which a collection may have taken the place of one with an unreadable file.
  static func mayHaveReplacements(in directory: String) throws(FileFailure) -> Bool {
    try !replacedNames(among: names(in: directory)).isEmpty
  }

  /// Returns the names to which there is another one with a number.
  ///
  /// If gnome-keyring 42.1 or 48.0 can't read `login.keyring`, each login makes a new collection "login", in
  /// `login_1.keyring` and so on.
  private static func replacedNames(among names: [String]) -> Set<String> {
    Set(
      names.compactMap { name in
        guard let end = name.lastIndex(of: "_"), Int(name[end...].dropFirst()) != nil else {
          return nil
        }
        return String(name[..<end])
      }
    ).intersection(names)
  }

  /// The name of the file without its ending.
  var name: String {
    String((path.split(separator: "/").last ?? "").dropLast(Self.suffix.count))
  }

  private static let suffix = ".keyring"
}

// MARK: - Reading files

extension CollectionFile {
  /// The size of the part of a file that has the label and the times.
  private static let headSize = 16 << 10

  private static func file(at path: String) throws(FileFailure) -> CollectionFile? {
    do throws(FileFailure) {
      guard let file = try OpenFile.reading(path) else { return nil }
      let status = try file.status()
      guard status.st_mode & S_IFMT == S_IFREG else { return nil }
      // A text file has secrets after the head.
      let head = try Secret(capacity: headSize) { (room) throws(FileFailure) in
        try file.read(into: room)
      }
      let (content, times, label) = head.withUnsafeBytes(contentOfHead)
      return CollectionFile(
        path: path, content: content, times: times, label: label,
        changed: status.st_ctim.seconds)
    } catch {
      if [EMFILE, ENFILE, ENOMEM].contains(error.number) { throw error }
      return error.code == .accessDenied || error.number == EIO
        ? CollectionFile(path: path, content: .unreadable) : nil
    }
  }

  private static func contentOfHead(
    _ bytes: UnsafeRawBufferPointer
  ) -> (content: Content, times: Times?, label: String?) {
    let isEncrypted = bytes.starts(with: magic)
    guard let (times, label) = isEncrypted ? encryptedHead(bytes) : textHead(bytes) else {
      return (.damaged, nil, nil)
    }
    return (isEncrypted ? .encrypted : .text, times, label)
  }

  /// The start of an encrypted file.
  private static let magic = Array("GnomeKeyring\n\r\0\n".utf8)

  /// Reads the head of an encrypted file: the magic, four numbers of one byte each, the label and the times.
  private static func encryptedHead(
    _ bytes: UnsafeRawBufferPointer
  ) -> (Times, label: String?)? {
    func number(at offset: Int, size: Int) -> UInt64? {
      guard bytes.count - size >= offset else { return nil }
      return bytes[offset..<offset + size].reduce(0) { $0 << 8 | UInt64($1) }
    }
    let start = magic.count + 4
    guard let size = number(at: start, size: 4) else { return nil }
    // A missing label has this size.
    let hasLabel = size != UInt64(UInt32.max)
    let end = start + 4 + (hasLabel ? Int(size) : 0)
    guard let created = number(at: end, size: 8), let modified = number(at: end + 8, size: 8) else {
      return nil
    }
    let label = hasLabel ? String(decoding: bytes[(start + 4)..<end], as: UTF8.self) : nil
    return (Times(created, modified), label)
  }

  /// Reads the group "keyring" of a text file.
  private static func textHead(_ bytes: UnsafeRawBufferPointer) -> (Times, label: String?)? {
    var lines = bytes.split(separator: UInt8(ascii: "\n"))[...]
    guard let first = lines.popFirst(), first.starts(with: "[keyring]".utf8) else { return nil }
    let group = lines.prefix { $0.first != UInt8(ascii: "[") }
    func value(_ name: String) -> String? {
      group.first { $0.starts(with: name.utf8) }.map {
        String(decoding: $0.dropFirst(name.utf8.count), as: UTF8.self)
      }
    }
    func number(_ name: String) -> UInt64 { value(name).flatMap(UInt64.init) ?? 0 }
    return (Times(number("ctime="), number("mtime=")), value("display-name="))
  }
}

// MARK: - Text

extension CollectionFile {
  /// Returns `true` for a secret that a text file keeps as it is.
  ///
  /// GLib (2.74 to 2.88) takes a backslash for an escape, and drops blanks at the start and a carriage return at
  /// the end. After a line break, it reads the rest of the secret as another line. If that isn't a valid one,
  /// gnome-keyring reads nothing of the file. gnome-keyring writes bytes that aren't UTF-8, or that contain
  /// a NUL, in hexadecimal digits.
  static func textKeeps(_ secret: Secret) -> Bool {
    let isKept = secret.withUnsafeBytes { bytes in
      !bytes.contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\\") }
        && bytes.first.map { !" \t\u{C}\r".utf8.contains($0) } != false
        && bytes.last != UInt8(ascii: "\r")
    }
    return isKept || secret.withUnsafeBytes { $0.contains(0) } || !secret.isUTF8
  }
}

extension timespec {
  /// The time in seconds.
  var seconds: Double { Double(tv_sec) + Double(tv_nsec) / 1e9 }
}
#endif
