// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Glibc
import Testing

/// A secret that a test can search for in its own memory, because this type disguises it.
///
/// The secret repeats one word, so that a search also finds a piece of a copy. A copy in freed
/// memory often lacks its beginning.
struct Canary: Sendable {
  private static let mask: UInt8 = 0x80
  private static let repetitions = 5

  /// The disguised word.
  ///
  /// It's longer than the bytes that a vector register may carry into a stack frame by chance.
  private let disguisedWord = (0..<40).map { _ in
    UInt8.random(in: UInt8(ascii: "a")...UInt8(ascii: "z")) ^ mask
  }

  /// The bytes before the words, which don't count as a piece of the secret.
  private let beginning: [UInt8]

  init(beginning: String = "") { self.beginning = Array(beginning.utf8) }

  private var byteCount: Int { beginning.count + disguisedWord.count * Self.repetitions }

  /// The secret, made in the place where it stays.
  var text: String {
    String(unsafeUninitializedCapacity: byteCount) { write(to: UnsafeMutableRawBufferPointer($0)) }
  }

  /// The secret, made in the place where it stays.
  var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: byteCount) {
      $1 = write(to: UnsafeMutableRawBufferPointer($0))
    }
  }

  /// The secret, made in the place where it stays.
  var data: Data {
    var data = Data(count: byteCount)
    data.withUnsafeMutableBytes { _ = write(to: $0) }
    return data
  }

  private func write(to buffer: UnsafeMutableRawBufferPointer) -> Int {
    buffer.copyBytes(from: beginning)
    for index in 0..<byteCount - beginning.count {
      buffer[beginning.count + index] = disguisedWord[index % disguisedWord.count] ^ Self.mask
    }
    return byteCount
  }

  /// Returns the addresses of the secret, and of its pieces, in the memory of the process.
  ///
  /// The search allocates nothing, because an allocation could overwrite the remains of a copy.
  func places() throws -> [UInt] {
    var places: [UInt] = []
    places.reserveCapacity(100)
    try OwnMemory.forEachWritablePart { address, bytes in
      var rest = bytes[...]
      while let offset = firstOffset(in: UnsafeRawBufferPointer(rebasing: rest)) {
        let place = address + UInt(rest.startIndex + offset)
        // This may be the next word of the same copy.
        let isNext = places.last.map { place - $0 < UInt(byteCount) } ?? false
        if !isNext { places.append(place) }
        rest = rest.dropFirst(offset + disguisedWord.count)
      }
    }
    return places
  }

  private func firstOffset(in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let start = bytes.baseAddress else { return nil }
    let first = Int32(disguisedWord[0] ^ Self.mask)
    var offset = 0
    while offset + disguisedWord.count <= bytes.count,
      let found = memchr(start + offset, first, bytes.count - offset - disguisedWord.count + 1)
    {
      offset = UnsafeRawPointer(found) - start
      if isWord(at: start + offset) { return offset }
      offset += 1
    }
    return nil
  }

  private func isWord(at address: UnsafeRawPointer) -> Bool {
    for index in disguisedWord.indices
    where address.load(fromByteOffset: index, as: UInt8.self) ^ Self.mask != disguisedWord[index] {
      return false
    }
    return true
  }
}

/// The memory of this process, as the system shows it to a debugger; see proc(5).
enum OwnMemory {
  /// Calls a closure with a copy of each part that the process can write to.
  static func forEachWritablePart(
    _ body: (_ address: UInt, _ bytes: UnsafeRawBufferPointer) -> Void
  ) throws {
    let list = try map(byteCount: 1 << 20)
    defer { munmap(list.baseAddress, list.count) }
    try readAll("/proc/self/maps", into: list)
    var largest = 0
    try forEachWritableRange(in: list) { largest = max(largest, $0.count) }
    // The copy is mapped after the list is made, so that the list doesn't contain it.
    let copy = try map(byteCount: largest)
    defer { munmap(copy.baseAddress, copy.count) }
    let memory = open("/proc/self/mem", O_RDONLY)
    try #require(memory >= 0)
    defer { close(memory) }
    try forEachWritableRange(in: list) { range in
      var address = range.lowerBound
      while address < range.upperBound {
        let rest = Int(range.upperBound - address)
        let count = pread(memory, copy.baseAddress, rest, off_t(address))
        if count > 0 { body(address, UnsafeRawBufferPointer(rebasing: copy[..<count])) }
        // With glibc 2.43, the guard pages of a thread's stack belong to the range, and can't be read.
        try #require(count > 0 || errno == EIO)
        address += UInt(max(count, Int(getpagesize())))
      }
    }
  }

  private static func forEachWritableRange(
    in list: UnsafeMutableRawBufferPointer, _ body: (Range<UInt>) throws -> Void
  ) throws {
    var line = try #require(list.baseAddress?.assumingMemoryBound(to: CChar.self))
    while line.pointee != 0 {
      var end: UnsafeMutablePointer<CChar>?
      let lowerBound = strtoul(line, &end, 16)
      let upperBound = strtoul(try #require(end) + 1, &end, 16)
      let permissions = try #require(end) + 1
      if strncmp(permissions, "rw", 2) == 0 { try body(lowerBound..<upperBound) }
      line = try #require(strchr(permissions, 10)) + 1
    }
  }

  private static func readAll(_ path: String, into buffer: UnsafeMutableRawBufferPointer) throws {
    let file = open(path, O_RDONLY)
    try #require(file >= 0)
    defer { close(file) }
    var size = 0
    while true {
      let count = read(file, buffer.baseAddress.map { $0 + size }, buffer.count - size - 1)
      try #require(count >= 0)
      if count == 0 { return }
      size += count
    }
  }

  private static func map(byteCount: Int) throws -> UnsafeMutableRawBufferPointer {
    let address = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
    try #require(address != MAP_FAILED)
    return UnsafeMutableRawBufferPointer(start: address, count: byteCount)
  }
}
#endif
