// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform

/// Bytes that are overwritten in memory with the release of the last copy, and hidden from all output.
///
/// As far as the system allows, they stay out of the swap space. A `String` or an array that you make a
/// secret from, or that you get from it, isn't overwritten.
///
/// ```swift
/// let token = Secret("s3cret")
/// print(token)  // <redacted>
/// ```
public struct Secret: Sendable {
  private let bytes: ZeroizedBuffer

  /// Creates a secret from text.
  ///
  /// - Parameter text: The text, which is stored as its UTF-8.
  public init(_ text: String) {
    var text = text
    bytes = text.withUTF8 { unsafe ZeroizedBuffer(copying: UnsafeRawBufferPointer($0)) }
  }

  /// Creates a secret from bytes.
  ///
  /// ```swift
  /// let secret = Secret(bytes: [0x73, 0x33])
  /// ```
  ///
  /// - Parameter bytes: The bytes.
  public init(bytes: some Collection<UInt8>) {
    let wiped = ZeroizedBuffer(count: bytes.count)
    unsafe wiped.buffer.copyBytes(from: bytes)
    self.bytes = wiped
  }

  /// Creates a secret from bytes in memory.
  ///
  /// - Parameter bytes: The bytes to copy.
  public init(copying bytes: UnsafeRawBufferPointer) {
    self.bytes = unsafe ZeroizedBuffer(copying: bytes)
  }

  /// Creates a secret from bytes that a span borrows, for example those of an array or of `Data`.
  ///
  /// ```swift
  /// let secret = Secret(copying: data.bytes)
  /// ```
  ///
  /// - Parameter bytes: The bytes to copy.
  public init(copying bytes: RawSpan) {
    self.bytes = unsafe bytes.withUnsafeBytes { unsafe ZeroizedBuffer(copying: $0) }
  }

  /// Creates a secret in place, so that its bytes are in no other place.
  ///
  /// - Parameters:
  ///   - capacity: The maximum number of bytes.
  ///   - fill: A closure that writes the bytes and returns their number.
  /// - Throws: The error of the closure.
  package init<Failure: Error>(
    capacity: Int, filledBy fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) {
    let room = ZeroizedBuffer(count: capacity)
    let count = try unsafe fill(room.buffer)
    bytes =
      count == capacity
      ? room
      : unsafe ZeroizedBuffer(copying: UnsafeRawBufferPointer(rebasing: room.buffer[..<count]))
  }

  /// Returns a secret of random bytes, for example a new encryption key.
  ///
  /// The bytes come from the system's generator for cryptography. They're rarely text.
  ///
  /// ```swift
  /// let key = Secret.random(bytes: 32)
  /// ```
  ///
  /// - Parameter count: The number of bytes. 32 bytes are enough for any key.
  /// - Returns: The secret.
  public static func random(bytes count: Int) -> Secret {
    var generator = SystemRandomNumberGenerator()
    return unsafe Secret(capacity: count) { room in
      for index in room.indices { unsafe room[index] = generator.next() }
      return count
    }
  }

  /// The number of bytes in the secret.
  public var count: Int { unsafe bytes.buffer.count }

  /// Calls a closure with a span of the bytes, which the compiler keeps from leaving the closure.
  ///
  /// ```swift
  /// let start = secret.withBytes { bytes in Secret(copying: bytes.extracting(first: 16)) }
  /// ```
  ///
  /// - Parameter body: A closure that receives the bytes in place.
  /// - Returns: The result of the closure.
  /// - Throws: The error of the closure.
  public func withBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // Without the copy, the optimizer of Swift 6.3.1 crashes.
    let buffer = unsafe bytes.buffer
    return try body(unsafe buffer.bytes)
  }

  /// Calls a closure with a pointer to the bytes in place, for code that takes no span.
  ///
  /// ```swift
  /// let sum = secret.withUnsafeBytes { bytes in bytes.reduce(0) { $0 &+ UInt64($1) } }
  /// ```
  ///
  /// - Parameter body: A closure that receives the bytes, which are valid during the call.
  /// - Returns: The result of the closure.
  /// - Throws: The error of the closure.
  public func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(UnsafeRawBufferPointer(bytes.buffer))
  }

  /// Whether the bytes are UTF-8.
  ///
  /// The check reads the bytes in place, where they're overwritten on release.
  package var isUTF8: Bool {
    unsafe withUnsafeBytes {
      unsafe !transcode(
        $0.makeIterator(), from: UTF8.self, to: UTF32.self, stoppingOnError: true
      ) { _ in }
    }
  }

  /// The bytes as text, or `nil` for bytes other than UTF-8.
  ///
  /// The memory of the text isn't overwritten.
  ///
  /// ```swift
  /// if let text = secret.text { send(text) }
  /// ```
  public var text: String? { unsafe withUnsafeBytes { unsafe String(utf8: $0) } }
}

extension Secret {
  /// Keeps new secrets in memory that the kernel hides from all other processes, also from those of root.
  ///
  /// Call it at the start of a program on a server: the machine can't hibernate then, and a forked child has
  /// none of the secrets. It needs
  /// [memfd_secret(2)](https://man7.org/linux/man-pages/man2/memfd_secret.2.html).
  ///
  /// ```swift
  /// if !Secret.hideNewSecrets() { print("This system can't hide secrets from other processes.") }
  /// ```
  ///
  /// - Returns: `true` for hidden secrets, `false` on a system that can't hide them.
  public static func hideNewSecrets() -> Bool { LockedPage.hideNewPages() }
}

extension Secret: Equatable {
  /// Compares two secrets in a time that depends on their lengths alone.
  public static func == (lhs: Secret, rhs: Secret) -> Bool {
    guard lhs.count == rhs.count else { return false }
    return unsafe lhs.withUnsafeBytes { left in
      unsafe rhs.withUnsafeBytes { right in
        left.indices.reduce(0) { unsafe $0 | (left[$1] ^ right[$1]) } == 0
      }
    }
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A placeholder that reveals nothing about the secret.
  public var description: String { "<redacted>" }
  /// A placeholder that reveals nothing about the secret.
  public var debugDescription: String { description }
  /// A mirror without children, so that neither `dump` nor a debugger's summary shows the bytes.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
