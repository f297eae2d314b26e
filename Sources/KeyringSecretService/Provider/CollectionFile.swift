// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

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

    /// Indicates whether a collection can be recognized by its times.
    fileprivate var areKnown: Bool { later > 0 }
  }

  enum Content: Equatable {
    case encrypted
    case text
    /// Something that the provider can't read, so that it doesn't list the collection.
    case damaged
  }

  let path: String
  let content: Content
  let times: Times?

  /// The parts of a file that identify its collection.
  struct Identity: Equatable {
    /// The name of the file without its ending.
    ///
    /// If that file exists already, the name of a new collection's file has a number at the end.
    let name: String
    let times: Times

    /// Creates an identity from the last element of a collection's path, and the collection's times.
    ///
    /// gnome-keyring 42.1 to 51.1 replaces each byte that isn't a letter or a digit by `_` and two hexadecimal
    /// digits.
    init(pathElement: some StringProtocol, times: Times) {
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

  /// Indicates whether this is the file of a collection.
  func isOf(_ collection: Identity) -> Bool {
    guard collection.times.areKnown, times == collection.times, name.hasPrefix(collection.name)
    else {
      return false
    }
    let number = name.dropFirst(collection.name.count)
    return number.isEmpty || number.first == "_" && Int(number.dropFirst()) != nil
  }

  /// Indicates whether the file is that of none of these collections.
  func isOfNone(_ collections: [Identity]) -> Bool {
    times?.areKnown != false && !collections.contains(where: isOf)
  }

  /// Returns the file as it is now, if it's still that of the same collection.
  func refreshed() -> CollectionFile? {
    Self.file(at: path).flatMap { $0.times == times ? $0 : nil }
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
  static func files(in directory: String) -> [CollectionFile] {
    guard let names = try? OpenFile.directory(directory).names() else { return [] }
    return names.sorted().filter { $0.hasSuffix(suffix) }.compactMap {
      file(at: "\(directory)/\($0)")
    }
  }

  /// The name of the file without its ending.
  var name: String {
    String((path.split(separator: "/").last ?? "").dropLast(Self.suffix.count))
  }

  /// Returns the name of the file of the default collection.
  static func defaultName(in directory: String) -> String {
    // gnome-keyring writes the file when another collection becomes the default one.
    ProcFile.text(directory + "/default")?.split(separator: "\n").first.map(String.init) ?? "login"
  }

  private static let suffix = ".keyring"
}

// MARK: - Reading files

extension CollectionFile {
  /// The size of the part of a file that has the label and the times.
  private static let headSize = 16 << 10

  private static func file(at path: String) -> CollectionFile? {
    // A text file has secrets after the head.
    let head = try? OpenFile.reading(path).map { (file) throws(FileFailure) in
      try Secret(capacity: headSize) { (room) throws(FileFailure) in try file.read(into: room) }
    }
    return head.flatMap(\.self)?.withUnsafeBytes { bytes in
      if bytes.starts(with: Self.magic) {
        let times = encryptedTimes(bytes)
        return CollectionFile(
          path: path, content: times == nil ? .damaged : .encrypted, times: times)
      }
      let times = textTimes(bytes)
      return CollectionFile(path: path, content: times == nil ? .damaged : .text, times: times)
    }
  }

  /// The start of an encrypted file.
  private static let magic = Array("GnomeKeyring\n\r\0\n".utf8)

  /// Reads the head of an encrypted file: the magic, four numbers of one byte each, the label and the times.
  private static func encryptedTimes(_ bytes: UnsafeRawBufferPointer) -> Times? {
    func number(at offset: Int, size: Int) -> UInt64? {
      guard bytes.count - size >= offset else { return nil }
      return bytes[offset..<offset + size].reduce(0) { $0 << 8 | UInt64($1) }
    }
    let start = magic.count + 4
    guard let size = number(at: start, size: 4) else { return nil }
    // A missing label has this size.
    let end = start + 4 + (size == UInt64(UInt32.max) ? 0 : Int(size))
    guard let created = number(at: end, size: 8), let modified = number(at: end + 8, size: 8) else {
      return nil
    }
    return Times(created, modified)
  }

  /// Reads the group "keyring" of a text file.
  private static func textTimes(_ bytes: UnsafeRawBufferPointer) -> Times? {
    func number(_ line: Slice<UnsafeRawBufferPointer>, _ name: StaticString) -> UInt64? {
      name.withUTF8Buffer { name in
        guard line.starts(with: name) else { return nil }
        return UInt64(String(decoding: line.dropFirst(name.count), as: UTF8.self))
      }
    }
    var lines = bytes.split(separator: UInt8(ascii: "\n"))[...]
    guard let first = lines.popFirst(), first.starts(with: "[keyring]".utf8) else { return nil }
    let group = lines.prefix { $0.first != UInt8(ascii: "[") }
    let created = group.lazy.compactMap { number($0, "ctime=") }.first
    let modified = group.lazy.compactMap { number($0, "mtime=") }.first
    return Times(created ?? 0, modified ?? 0)
  }
}

// MARK: - Text

extension CollectionFile {
  /// Returns `true` if a text file keeps a secret as it is.
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
#endif
