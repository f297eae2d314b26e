#if EncryptedFile
internal import KeyringStorage

/// The parameters of the wrapping key in a header: the kind of its source, its cost, and its salt.
struct KeyParameters: Sendable, Equatable {
  let kind: KeySource.Kind
  /// The cost of deriving a key from a passphrase, or `nil` for a source that needs none.
  let cost: ScryptCost?
  let salt: [UInt8]

  init(_ kind: KeySource.Kind, _ cost: ScryptCost?) {
    (self.kind, self.cost) = (kind, cost)
    salt = .random(FileHeader.saltByteCount)
  }

  /// The parameters in the form in which they begin a file.
  ///
  /// Wrapping the data key authenticates these bytes.
  var bytes: [UInt8] {
    let version = [UInt8(FileHeader.version >> 8), UInt8(FileHeader.version & 0xff)]
    let cost: [UInt8] = cost.map { [$0.logarithm, $0.blockSize, $0.parallelism] } ?? [0, 0, 0]
    let numbers: [UInt8] = version + [kind.rawValue] + cost + [0, 0]
    return FileHeader.magic + numbers + salt
  }

  /// Reads the beginning of a file, or returns `nil` if it has values that no file may have.
  init?(_ header: ArraySlice<UInt8>) {
    guard let kind = KeySource.Kind(rawValue: header[10]), header[14] == 0, header[15] == 0 else {
      return nil
    }
    self.kind = kind
    salt = Array(header[16..<(16 + FileHeader.saltByteCount)])
    let cost = ScryptCost(
      logarithm: header[11], blockSize: header[12], parallelism: header[13])
    if kind == .passphrase {
      guard cost.isAcceptable else { return nil }
      self.cost = cost
    } else {
      guard header[11..<14].allSatisfy({ $0 == 0 }) else { return nil }
      self.cost = nil
    }
  }
}

/// The parameters of scrypt, [RFC 7914](https://www.rfc-editor.org/rfc/rfc7914).
struct ScryptCost: Sendable, Equatable {
  /// The standard cost: about a quarter of a second and 128 MiB.
  static let standard = ScryptCost(logarithm: 17, blockSize: 8, parallelism: 1)

  /// The logarithm of N to the base 2.
  let logarithm: UInt8
  /// The parameter r.
  let blockSize: UInt8
  /// The parameter p.
  let parallelism: UInt8

  /// Indicates whether a file may ask for this cost.
  ///
  /// The limits are 256 MiB of memory and eight times the work of the standard cost.
  var isAcceptable: Bool {
    guard (1...18).contains(logarithm), blockSize > 0, (1...4).contains(parallelism) else {
      return false
    }
    return 128 * rounds * Int(blockSize) <= 256 << 20
  }

  /// The parameter N.
  var rounds: Int { 1 << Int(logarithm) }
}

extension [UInt8] {
  /// Returns bytes from the system's source of randomness.
  static func random(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in .random(in: 0...255, using: &generator) }
  }
}
#endif
