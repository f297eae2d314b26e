#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Bytes that must not be seen: wiped from memory on release, and shown nowhere.
///
/// Copies share the same bytes; they are overwritten when the last copy is gone. Until then they are
/// kept out of the swap space, as far as the process's limit on locked memory allows, and out of core
/// dumps on Linux. Any bytes will do: NUL, bytes that are not UTF-8, none at all. Text is kept as its
/// UTF-8, not normalised.
///
/// The `String` or array that a secret is made from, or turned into, belongs to the caller and is
/// not wiped; work on the bytes in place with ``withUnsafeBytes(_:)`` where that matters.
public struct Secret: Sendable {
  private let bytes: WipedBytes

  /// Makes a secret from text.
  ///
  /// - Parameter text: The text, kept as its UTF-8.
  public init(_ text: String) {
    var text = text
    bytes = text.withUTF8 { WipedBytes(copying: UnsafeRawBufferPointer($0)) }
  }

  /// Makes a secret from bytes.
  ///
  /// - Parameter bytes: The bytes.
  public init(bytes: some Collection<UInt8>) {
    let wiped = WipedBytes(count: bytes.count)
    wiped.buffer.copyBytes(from: bytes)
    self.bytes = wiped
  }

  /// Makes a secret from bytes in memory.
  ///
  /// - Parameter bytes: The bytes, copied.
  public init(copying bytes: UnsafeRawBufferPointer) {
    self.bytes = WipedBytes(copying: bytes)
  }

  /// Makes a secret in place, of bytes that were never elsewhere.
  ///
  /// - Parameters:
  ///   - capacity: How many bytes there may be.
  ///   - fill: Writes the bytes, and answers how many they are.
  /// - Throws: The error of the closure.
  package init<Failure: Error>(
    capacity: Int, filledBy fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) {
    let room = WipedBytes(count: capacity)
    let count = try fill(room.buffer)
    bytes =
      count == capacity
      ? room : WipedBytes(copying: UnsafeRawBufferPointer(rebasing: room.buffer[..<count]))
  }

  /// The number of bytes.
  public var count: Int { bytes.buffer.count }

  /// Calls a closure with the bytes in place, without making a copy.
  ///
  /// - Parameter body: Gets the bytes; they are valid only until it returns.
  /// - Returns: The result of the closure.
  /// - Throws: The error of the closure.
  public func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(bytes.buffer))
  }

  /// Whether the bytes are UTF-8, looked at in place: a `String` made to see would not be wiped.
  var isUTF8: Bool {
    withUnsafeBytes { bytes in
      var decoder = UTF8()
      var rest = bytes.makeIterator()
      while true {
        switch decoder.decode(&rest) {
        case .scalarValue: continue
        case .emptyInput: return true
        case .error: return false
        }
      }
    }
  }

  /// The bytes as text, in memory that is not wiped; `nil` if they are not UTF-8.
  public var text: String? {
    withUnsafeBytes { bytes in
      // In a fifth of the time that String(validating:as:) takes: only what is not UTF-8 is changed.
      var text = String(decoding: bytes, as: UTF8.self)
      let isSame = text.withUTF8 { UnsafeRawBufferPointer($0).isExactly(bytes) }
      return isSame ? text : nil
    }
  }
}

extension Secret: Equatable {
  /// Compares two secrets in a time that depends on their lengths only.
  ///
  /// - Parameters:
  ///   - lhs: A secret.
  ///   - rhs: Another secret.
  /// - Returns: Whether their bytes are the same.
  public static func == (lhs: Secret, rhs: Secret) -> Bool {
    guard lhs.count == rhs.count else { return false }
    return lhs.withUnsafeBytes { left in
      rhs.withUnsafeBytes { right in
        left.indices.reduce(0) { $0 | (left[$1] ^ right[$1]) } == 0
      }
    }
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A word that stands for the secret and says nothing about it.
  public var description: String { "<redacted>" }
  /// A word that stands for the secret and says nothing about it.
  public var debugDescription: String { description }
  /// A mirror without children, so that neither `dump` nor a debugger's summary walks to the bytes.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A fixed number of bytes, overwritten before their memory is given back.
///
/// Sendable because nobody writes to the buffer once the initializer of `Secret` has returned.
private final class WipedBytes: @unchecked Sendable {
  let buffer: UnsafeMutableRawBufferPointer
  private let page: SecretPage

  init(count: Int) {
    (page, buffer) = SecretPage.allocate(count)
  }

  convenience init(copying bytes: UnsafeRawBufferPointer) {
    self.init(count: bytes.count)
    buffer.copyMemory(from: bytes)
  }

  deinit {
    // A plain memset of memory about to be freed is one that the optimizer may leave out.
    if let address = buffer.baseAddress {
      #if canImport(Darwin)
      memset_s(address, buffer.count, 0, buffer.count)
      #else
      explicit_bzero(address, buffer.count)
      #endif
    }
    page.deallocate(buffer)
  }
}
