// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import KeyringCore
import TestPrograms
import Testing

#if os(Linux)
import CKeyringLinux
#endif

#if canImport(Glibc)
import Glibc
#endif

/// The memory pages in which secrets are kept.
@Suite struct LockedPageTests {
  // The thread sanitizer has nothing to find in one thread.
  @Test(
    .tags(.unsanitized),
    arguments: [
      0, 1, 15, 63, 64, 65, 1024, 2048, 2049, 4095, 4096, 4097, 4 << 20, (4 << 20) + 1,
    ])
  func `a secret of any size is kept`(count: Int) {
    var bytes: [UInt8] = Array(1...251)
    while bytes.count < count { bytes += bytes }
    bytes.removeLast(bytes.count - count)
    let secrets = (0..<3).map { _ in Secret(bytes: bytes) }
    #expect(secrets.allSatisfy { $0.hasBytes(bytes) })
  }

  @Test func `neighboring secrets do not change each other`() {
    var secrets = (0..<1000).map {
      Secret(bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $0))
    }
    // Every other slot is used again.
    for index in stride(from: 0, to: secrets.count, by: 2) {
      secrets[index] = Secret(
        bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: index))
    }
    for (index, secret) in secrets.enumerated() {
      #expect(secret.isFilled(with: UInt8(truncatingIfNeeded: index)))
    }
  }

  @Test func `many threads can keep secrets at once`() {
    DispatchQueue.concurrentPerform(iterations: 16) { thread in
      var generator = SystemRandomNumberGenerator()
      var kept: [Secret] = []
      for _ in 0..<2000 {
        let count = Int.random(in: 0...(Bool.random() ? 100 : 5000), using: &generator)
        kept.append(Secret(bytes: [UInt8](repeating: UInt8(thread), count: count)))
        if kept.count > 50 { kept.remove(at: Int.random(in: kept.indices, using: &generator)) }
      }
      #expect(kept.allSatisfy { $0.isFilled(with: UInt8(thread)) })
    }
  }

  #if canImport(Glibc)
  // These tests have processes of their own, because other tests' secrets count as locked too.

  // The thread sanitizer makes mlock do nothing.
  @Test(
    .enabled(if: mayLock(byteCount: 64 << 10), "the process may lock too little memory"),
    .tags(.unsanitized))
  func `pages are locked and left out of core dumps`() async {
    await #expect(processExitsWith: .success) {
      try forEachSize { (secret, mapping) throws in
        #expect(mapping.flags.contains("lo"))
        #expect(mapping.flags.contains("dd"))
        #expect(mapping.permissions == "rw-p")
      }
    }
  }

  @Test func `secrets are kept in unlocked memory if none may be locked`() async {
    await #expect(processExitsWith: .success) {
      try forbidLocking()
      try forEachSize { (secret, mapping) throws in
        #expect(secret.isFilled(with: 7))
        #expect(!mapping.flags.contains("lo"))
        #expect(mapping.flags.contains("dd"))
      }
    }
  }

  @Test func `the pages around secrets can't be read`() async {
    await #expect(processExitsWith: .success) {
      try forEachSize { (secret, mapping) throws in
        let around = try Mapping.all().filter { other in
          other.addresses.upperBound == mapping.addresses.lowerBound
            || other.addresses.lowerBound == mapping.addresses.upperBound
        }
        #expect(around.map(\.permissions) == ["---p", "---p"])
        #expect(secret.isFilled(with: 7))
      }
    }
  }

  /// A process can have only so many mappings, which others need too.
  @Test(.tags(.slow)) func `many large secrets need few mappings`() async {
    await #expect(processExitsWith: .success) {
      let secrets = (0..<12_000).map { number in
        Secret(bytes: [UInt8](repeating: UInt8(number % 251), count: 3000))
      }
      let mappings = try Mapping.all()
      #expect(mappings.count < 10_000, "\(mappings.count)")
      #expect(secrets.indices.allSatisfy { secrets[$0].isFilled(with: UInt8($0 % 251)) })
    }
  }

  @Test(.enabled(if: hasHiddenMemory, "the kernel has no memory that it hides"))
  func `hidden secrets can't be read from outside`() async {
    await #expect(processExitsWith: .success) {
      let before = Secret("s3cret")
      #expect(try before.isReadableFromOutside())
      try #require(Secret.hideNewSecrets())
      try forEachSize { (secret, mapping) throws in
        #expect(secret.isFilled(with: 7))
        #expect(try !secret.isReadableFromOutside())
        #expect(mapping.flags.contains("lo") && mapping.flags.contains("dd"))
        // Not copied to a child process
        #expect(mapping.flags.contains("dc"))
      }
      #expect(before == Secret("s3cret") && Secret.hideNewSecrets())
    }
  }

  @Test(.enabled(if: hasHiddenMemory, "the kernel has no memory that it hides"))
  func `a page from before gets no hidden secret`() async {
    await #expect(processExitsWith: .success) {
      // The first page is full, and the second has room.
      var before = (0..<100).map { _ in Secret("s3cret") }
      #expect(before.count == 100)
      try #require(Secret.hideNewSecrets())
      before.removeSubrange(0..<50)
      for _ in 0..<200 {
        let secret = Secret("s3cret")
        #expect(try !secret.isReadableFromOutside())
        before.append(secret)
      }
    }
  }

  @Test(.enabled(if: hasHiddenMemory, "the kernel has no memory that it hides"))
  func `secrets aren't lost when no more memory can be hidden`() async {
    await #expect(processExitsWith: .success) {
      try #require(Secret.hideNewSecrets())
      try forbidLocking()
      for count in [16, 3000, 10_000] {
        #expect(Secret(bytes: [UInt8](repeating: 7, count: count)).isFilled(with: 7))
      }
    }
  }

  // The thread sanitizer keeps its own memory out of core dumps, too.
  @Test(.tags(.unsanitized)) func `empty pages are given back`() async {
    await #expect(processExitsWith: .success) {
      var secrets = (0..<10_000).map { Secret(bytes: [UInt8](repeating: 7, count: $0 % 3000)) }
      let many = try Mapping.pagesOfSecrets()
      #expect(many > 1000)
      #expect(secrets.count == 10_000)
      secrets = []
      // One page remains for each of the sizes that a page is divided into.
      let few = try Mapping.pagesOfSecrets()
      #expect(few <= 6)
    }
  }
  #endif
}

extension Secret {
  fileprivate func isFilled(with byte: UInt8) -> Bool {
    hasBytes([UInt8](repeating: byte, count: count))
  }

  /// Whether the secret has these bytes, which the C library compares faster than a loop without optimization.
  fileprivate func hasBytes(_ bytes: [UInt8]) -> Bool {
    count == bytes.count
      && withUnsafeBytes { $0.baseAddress.map { memcmp($0, bytes, count) == 0 } ?? true }
  }
}

#if canImport(Glibc)
private let lockedMemory = __rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue)

private func mayLock(byteCount: rlim_t) -> Bool {
  var limit = rlimit()
  return getrlimit(lockedMemory, &limit) == 0 && limit.rlim_cur >= byteCount
}

/// A part of the process's memory, as the system describes it.
private struct Mapping {
  var addresses: Range<UInt>
  var permissions: Substring
  var flags: [Substring] = []

  /// Reads the mappings of the process.
  ///
  /// See proc(5), `/proc/pid/smaps`.
  static func all() throws -> [Mapping] {
    // The file is read piece by piece. The system doesn't tell its size or return it all at once.
    let file = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
    let text = String(decoding: try #require(try file.readToEnd()), as: UTF8.self)
    var mappings: [Mapping] = []
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words[0] == "VmFlags:" {
        mappings[mappings.count - 1].flags = Array(words.dropFirst())
      } else if !words[0].hasSuffix(":") {
        let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        mappings.append(Mapping(addresses: ends[0]..<ends[1], permissions: words[1]))
      }
    }
    return mappings
  }
}

/// Calls a closure with secrets of different sizes, and the parts of memory that they're in.
private func forEachSize(_ body: (Secret, Mapping) throws -> Void) throws {
  for count in [16, 3000, 10_000] {
    let secret = Secret(bytes: [UInt8](repeating: 7, count: count))
    try body(secret, try #require(try Mapping(of: secret)))
  }
}

/// Keeps this process from locking memory.
private func forbidLocking() throws {
  var limit = rlimit(rlim_cur: 0, rlim_max: 0)
  try #require(setrlimit(lockedMemory, &limit) == 0)
  // Limits don't apply to root.
  if geteuid() == 0 { try #require(setuid(65534) == 0) }
}

private let hasHiddenMemory: Bool = {
  let file = swift_keyring_memfd_secret(UInt32(O_CLOEXEC))
  if file >= 0 { close(file) }
  return file >= 0
}()

extension Secret {
  /// Returns `true` if the memory can be read through the kernel, as debuggers and other processes do.
  fileprivate func isReadableFromOutside() throws -> Bool {
    let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
    try #require(memory >= 0)
    defer { close(memory) }
    return withUnsafeBytes { bytes in
      var copy = [UInt8](repeating: 0, count: bytes.count)
      let place = off_t(Int(bitPattern: bytes.baseAddress))
      return pread(memory, &copy, copy.count, place) == copy.count && bytes.elementsEqual(copy)
    }
  }
}

extension Mapping {
  /// Counts the pages that are left out of core dumps, which are those of secrets here.
  static func pagesOfSecrets() throws -> Int {
    try all().filter { $0.flags.contains("dd") && $0.permissions == "rw-p" }
      .reduce(0) { $0 + $1.addresses.count } / Int(getpagesize())
  }

  /// Finds the mapping that a secret is in.
  init?(of secret: Secret) throws {
    let address = secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    guard let mapping = try Mapping.all().first(where: { $0.addresses.contains(address) }) else {
      return nil
    }
    self = mapping
  }
}
#endif
