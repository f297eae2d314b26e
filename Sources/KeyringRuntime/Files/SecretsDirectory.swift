// SPDX-License-Identifier: Apache-2.0

package import KeyringCore
package import KeyringPlatform

/// One version of a directory in which each file is a secret.
///
/// Kubernetes replaces all files of a directory at once. They are links such as `token → ..data/token`, and
/// `..data` is a link to the directory of the current version. It's replaced by a rename, and the old version
/// is then removed:
/// [atomic_writer.go](https://github.com/kubernetes/kubernetes/blob/master/pkg/volume/util/atomic_writer.go).
/// All reads of one value see the same version. Any other file is read as it is. Other links are followed
/// within the directory.
package final class SecretsDirectory {
  /// A file as it was read.
  package struct File {
    /// The bytes.
    package let content: Secret
    /// The time at which the file was last written.
    package let modified: Date
    /// The hash of the bytes, with a key that only this process has.
    package var hash: Int {
      var hasher = Hasher()
      content.withUnsafeBytes { hasher.combine(bytes: $0) }
      return hasher.finalize()
    }
  }

  /// The failure of a directory that was unmounted, and has lost its files.
  package static let lost = FileFailure("has lost its files", number: ENOENT)

  /// The path of the directory.
  package let path: String
  private let directory: OpenFile
  /// The version that was current for the first file; `.some(nil)` for a directory that has no versions.
  private var openVersion: OpenFile??
  /// Whether something was missing or failed, perhaps by the removal of an old version.
  private var isInDoubt = false
  /// Whether the directory is known to have an entry.
  private var hasEntries = false
  /// Whether the hashes of the files that are read are needed.
  private let isHashing: Bool
  /// The hashes of the files that were read, and `nil` for those that are missing.
  package private(set) var reads: [String: Int?] = [:]

  /// The links that lead elsewhere than to a file of the directory, and the failures to read them.
  package private(set) var strayLinks: [String: FileFailure] = [:]

  private init(_ path: String, hashing: Bool) throws(FileFailure) {
    self.path = path
    isHashing = hashing
    directory = try OpenFile.directory(path)
  }

  /// Calls a closure with the current version, and again with the one that replaces it meanwhile.
  ///
  /// - Parameters:
  ///   - path: The path of the directory.
  ///   - hashing: `true` to remember the hashes of the files that are read.
  ///   - translate: A closure that describes a failure of the directory itself. An empty directory is such a
  ///     failure: it may not be mounted.
  ///   - body: The closure that reads. It may be called several times.
  /// - Returns: The result of the last call.
  /// - Throws: The error of the last call, or a translated one.
  package static func read<Result, Failure>(
    _ path: String, hashing: Bool = false, failing translate: (FileFailure) -> Failure,
    _ body: (SecretsDirectory) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var lastDeadEnd: String?
    var lastTargets: [String] = []
    // Each further attempt means that the directory was replaced during the one before.
    for _ in 0..<100 {
      let directory: SecretsDirectory
      do throws(FileFailure) {
        directory = try SecretsDirectory(path, hashing: hashing)
      } catch {
        // A link may have led to a directory that was just removed. By then, it leads to another one.
        let targets = Self.linkTargets(on: path)
        if error.number == ENOENT, exchange(&lastTargets, with: targets) != targets { continue }
        throw translate(error)
      }
      let result = Swift.Result { () throws(Failure) in try body(directory) }
      if !directory.isInDoubt { return try result.get() }
      guard directory.isCurrent else {
        // No two versions have the same name.
        if let deadEnd = directory.deadEnd, exchange(&lastDeadEnd, with: deadEnd) == deadEnd {
          throw translate(
            FileFailure("has a link \(link) to a directory that is gone", number: ESTALE))
        }
        continue
      }
      if directory.isEmpty { throw translate(FileFailure("is empty", number: ENOENT)) }
      return try result.get()
    }
    throw translate(FileFailure("was replaced again and again", number: EAGAIN))
  }

  /// Returns `true` for the name of a file that can be a secret.
  ///
  /// Like systemd (`credential_name_valid`), it accepts 1 to 255 printable ASCII characters without "/" and
  /// ":". Of the names that begin with a dot, systemd refuses only "." and "..". This method refuses all of
  /// them, because Kubernetes puts such entries into the directory for its own purposes.
  ///
  /// - Parameter name: The name of the file.
  /// - Returns: `true` for the name of a secret.
  package static func isName(_ name: String) -> Bool {
    (1...255).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: ".")
      && name.utf8.allSatisfy { byte in
        (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "/") && byte != UInt8(ascii: ":")
      }
  }

  /// Returns the names of the files.
  ///
  /// An unreadable file is among them: reading it tells why. A link that leads to no file of the directory is
  /// one of the ``strayLinks`` instead.
  ///
  /// - Returns: The names, in no particular order.
  /// - Throws: The failure to read the directory.
  package func names() throws(FileFailure) -> [String] {
    isInDoubt = true
    let version = try version()
    let entries = try directory.names()
    hasEntries = entries.count > 2
    let names = Set(entries.filter(Self.isName))
    let files = names.filter { name in
      if let version, let path = linkTarget(name).flatMap(Self.pathInVersion) {
        return isFile(name, at: path, in: version)
      }
      return isFile(name, at: name, in: directory)
    }
    guard let version else { return Array(files) }
    // A new file's link may be created after its version has become the current one.
    let others = try version.names().filter { Self.isName($0) && !names.contains($0) }
    return files + others.filter { isFile($0, at: $0, in: version) }
  }

  private func isFile(_ name: String, at path: String, in place: OpenFile) -> Bool {
    var status = stat()
    if !path.utf8.contains(UInt8(ascii: "/")) {
      if fstatat(place.descriptor, path, &status, AT_SYMLINK_NOFOLLOW) != 0 {
        return errno != ENOENT
      }
      if status.st_mode & S_IFMT != S_IFLNK { return status.st_mode & S_IFMT == S_IFREG }
    }
    do throws(FileFailure) {
      return try (file(path, in: place)?.status().st_mode ?? 0) & S_IFMT == S_IFREG
    } catch {
      // A socket can't be opened.
      if error.number == ENXIO { return false }
      guard error.number == ELOOP || error.number == EXDEV else { return true }
      strayLinks[name] = error
      return false
    }
  }

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - name: The name of the file, which ``isName(_:)`` must accept.
  ///   - largest: The maximum size of the file, in bytes.
  /// - Returns: The file, or `nil` for a missing one.
  /// - Throws: The failure to read the file.
  package func read(
    _ name: String, atMost largest: Int
  ) throws(FileFailure) -> File? {
    // A file that is missing or can't be read may be one of a version that was just removed.
    let wasInDoubt = exchange(&isInDoubt, with: true)
    guard let open = try open(name) else {
      if isHashing { reads[name] = .some(nil) }
      return nil
    }
    let time = try open.status().modification
    let content = try open.secret(atMost: largest)
    let seconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    let file = File(content: content, modified: Date(timeIntervalSince1970: seconds))
    if isHashing { reads[name] = file.hash }
    (isInDoubt, hasEntries) = (wasInDoubt, true)
    return file
  }

  // MARK: - The version

  /// The link that leads to the current version.
  private static let link = "..data"

  /// Opens a file, or returns `nil` for a missing one.
  private func open(_ name: String) throws(FileFailure) -> OpenFile? {
    do throws(FileFailure) {
      // Most directories have no links, and take no further call.
      if let file = try OpenFile.reading(name, O_NOFOLLOW, in: directory) { return file }
    } catch {
      guard error.number == ELOOP else { throw error }
      // By now, the link may be gone.
      let target = linkTarget(name)
      if let path = target.flatMap(Self.pathInVersion) {
        guard let version = try version() else {
          throw FileFailure("leads to no version of the directory", number: ENOENT)
        }
        return try file(path, in: version)
      }
      if target != nil, let file = try file(name, in: directory) { return file }
    }
    return try version().flatMap { (version) throws(FileFailure) in try file(name, in: version) }
  }

  private func version() throws(FileFailure) -> OpenFile? {
    if let openVersion { return openVersion }
    let version = try follow(Self.link, O_DIRECTORY, from: [directory])
    openVersion = .some(version)
    return version
  }

  // MARK: - Links

  /// The largest number of links on the way to a file, as of the system itself.
  private static let mostLinks = 40

  /// Opens a file of the directory or of the current version, or returns `nil` for a missing one.
  private func file(_ path: String, in place: OpenFile) throws(FileFailure) -> OpenFile? {
    if place === directory { return try follow(path, from: [directory]) }
    #if os(Linux)
    // The system itself would follow the link to the version again, which may lead to another one by now.
    if let file = OpenFile.reading(path, beneath: place) { return file }
    #endif
    return try follow(path, from: [directory, place])
  }

  /// Opens a file, and follows links as the system does, except those that lead out of the directory.
  ///
  /// A user who may write into the directory could otherwise let the program read any file as a secret. A link may
  /// have an absolute path that leads through the directory, which openat2(2) refuses.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - flags: Further flags of open(2).
  ///   - places: The directories on the way to the last one, in which the path begins.
  /// - Returns: The file, or `nil` for a missing one.
  /// - Throws: `FileFailure`, with `EXDEV` for a link out of the directory, and with `ELOOP` for a circle of
  ///   links.
  private func follow(
    _ path: String, _ flags: Int32 = 0, from places: [OpenFile]
  ) throws(FileFailure) -> OpenFile? {
    var (places, link, count) = (places, path, 0)
    func exit() -> FileFailure {
      FileFailure(
        "can't be read, because a link leads out of the directory: \(link)", number: EXDEV)
    }
    func parts(_ path: String) -> [String] {
      path.split(separator: "/").reversed().map(String.init)
    }
    var rest = parts(path)
    while let name = rest.popLast(), let place = places.last {
      if name == "." { continue }
      if name == ".." {
        places.removeLast()
        var status = stat()
        guard let outer = places.last, fstatat(place.descriptor, "..", &status, 0) == 0,
          outer.isSame(as: status)
        else { throw exit() }
      } else if places.count == 1, name == Self.link, path != Self.link {
        guard let version = try version() else { return nil }
        places.append(version)
      } else if let target = linkTarget(name, in: place) {
        (link, count) = (name, count + 1)
        if count > Self.mostLinks {
          throw FileFailure(
            "can't be read, because a link leads in a circle: \(link)", number: ELOOP)
        }
        if target.hasPrefix("/") {
          guard let path = pathInDirectory(target) else { throw exit() }
          (places, rest) = ([directory], rest + parts(path))
        } else {
          rest += parts(target)
        }
      } else if rest.isEmpty {
        return try OpenFile.reading(name, flags | O_NOFOLLOW, in: place)
      } else {
        guard let next = try OpenFile.reading(name, Platform.passing, in: place) else {
          return nil
        }
        places.append(next)
      }
    }
    return places.last
  }

  /// Returns the rest of an absolute path that leads through the directory, under any of its names.
  private func pathInDirectory(_ path: String) -> String? {
    var prefix = path[...]
    while !prefix.isEmpty {
      var status = stat()
      if fstatat(AT_FDCWD, String(prefix), &status, 0) == 0, directory.isSame(as: status) {
        return String(path[prefix.endIndex...])
      }
      prefix = prefix[..<(prefix.lastIndex(of: "/") ?? prefix.startIndex)]
    }
    return nil
  }

  /// Returns the path in the version that the target of a link leads to, or `nil` for another target.
  private static func pathInVersion(_ target: String) -> String? {
    target.hasPrefix(link + "/") ? String(target.dropFirst(link.count + 1)) : nil
  }

  /// Returns the target of a link, or `nil` for a name that is no link's.
  private func linkTarget(_ name: String, in place: OpenFile? = nil) -> String? {
    Self.linkTarget(name, in: (place ?? directory).descriptor)
  }

  /// Returns the targets of the links on a path.
  private static func linkTargets(on path: String) -> [String] {
    let ends = path.indices.filter { path[$0] == "/" } + [path.endIndex]
    return ends.compactMap { linkTarget(String(path[..<$0]), in: AT_FDCWD) }
  }

  private static func linkTarget(_ path: String, in descriptor: Int32) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
      guard let start = buffer.baseAddress else { return nil }
      let count = readlinkat(descriptor, path, start, buffer.count)
      if count < 0 { return nil }
      return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }
  }

  /// Whether the path leads to this directory as before, and the directory to this version.
  private var isCurrent: Bool {
    var status = stat()
    guard fstatat(AT_FDCWD, path, &status, 0) == 0, directory.isSame(as: status) else {
      return false
    }
    switch openVersion {
    case .none: return true
    case .some(.some(let version)):
      return fstatat(directory.descriptor, Self.link, &status, 0) == 0 && version.isSame(as: status)
    case .some(.none):
      // If there is a link, it led to a version that was just removed.
      return fstatat(directory.descriptor, Self.link, &status, AT_SYMLINK_NOFOLLOW) != 0
    }
  }

  /// The target of a link to the current version that leads nowhere.
  private var deadEnd: String? {
    guard case .some(.none) = openVersion else { return nil }
    return linkTarget(Self.link)
  }

  /// Whether the directory has no entry at all.
  private var isEmpty: Bool {
    !hasEntries && !hasVersions && (try? directory.names().count) == 2
  }

  // MARK: - Comparing

  /// Whether the files that were read or listed belong to a version.
  package var hasVersions: Bool { (openVersion ?? nil) != nil }

  /// Returns the identity of the directory, which remains the same from version to version.
  ///
  /// - Returns: The identity.
  /// - Throws: The failure to read the status.
  package func identity() throws(FileFailure) -> FileIdentity {
    FileIdentity(try directory.status())
  }
}

extension OpenFile {
  fileprivate func isSame(as other: stat) -> Bool {
    guard let status = try? status() else { return false }
    return FileIdentity(status).isOfSameFile(as: FileIdentity(other))
  }
}
