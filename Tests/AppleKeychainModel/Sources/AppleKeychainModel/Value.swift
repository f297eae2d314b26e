// SPDX-License-Identifier: Apache-2.0

public import CoreFoundation

/// A Core Foundation value, copied, so that it can be kept and compared by its bytes.
public enum Value: Sendable, Equatable {
  case text([UInt8])
  case data([UInt8])
  case number(Int64)
  case boolean(Bool)
  case date(Double)
  case list([Value])
  case dictionary([String: Value])
  /// A value of another type, or none: nothing accepts it.
  case unsupported

  /// Copies an object of Core Foundation.
  public init(_ object: CFTypeRef?) {
    guard let object else {
      self = .unsupported
      return
    }
    switch CFGetTypeID(object) {
    case CFStringGetTypeID(): self = Self.text(Self.view(object, as: CFString.self))
    case CFDataGetTypeID():
      let data = Self.view(object, as: CFData.self)
      let count = CFDataGetLength(data)
      self = .data(Array(UnsafeBufferPointer(start: CFDataGetBytePtr(data), count: count)))
    case CFBooleanGetTypeID():
      self = .boolean(CFBooleanGetValue(Self.view(object, as: CFBoolean.self)))
    case CFNumberGetTypeID():
      var number: Int64 = 0
      CFNumberGetValue(Self.view(object, as: CFNumber.self), .sInt64Type, &number)
      self = .number(number)
    case CFDateGetTypeID():
      self = .date(CFDateGetAbsoluteTime(Self.view(object, as: CFDate.self)))
    case CFArrayGetTypeID():
      let array = Self.view(object, as: CFArray.self)
      let elements = (0..<CFArrayGetCount(array)).map { CFArrayGetValueAtIndex(array, $0) }
      self = .list(elements.map(Self.init(pointer:)))
    case CFDictionaryGetTypeID():
      let dictionary = Self.view(object, as: CFDictionary.self)
      let count = CFDictionaryGetCount(dictionary)
      var keys = [UnsafeRawPointer?](repeating: nil, count: count)
      var values = keys
      CFDictionaryGetKeysAndValues(dictionary, &keys, &values)
      let names = keys.map { Self(pointer: $0).string ?? "" }
      let pairs = zip(names, values.map(Self.init(pointer:)))
      self = .dictionary(Dictionary(pairs, uniquingKeysWith: { first, _ in first }))
    default: self = .unsupported
    }
  }

  private init(pointer: UnsafeRawPointer?) {
    self.init(pointer.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() })
  }

  /// The same object as its type of Core Foundation, which Swift on Linux can't cast to.
  private static func view<Type: AnyObject>(_ object: CFTypeRef, as type: Type.Type) -> Type {
    Unmanaged.fromOpaque(Unmanaged.passUnretained(object).toOpaque()).takeUnretainedValue()
  }

  private static func pointer(_ object: CFTypeRef) -> UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
  }

  /// The UTF-8 of a string as it is, with its NUL, BOM and unnormalised characters.
  private static func text(_ string: CFString) -> Value {
    let whole = CFRange(location: 0, length: CFStringGetLength(string))
    let encoding = CFStringBuiltInEncodings.UTF8.rawValue
    var count = 0
    guard CFStringGetBytes(string, whole, encoding, 0, false, nil, 0, &count) == whole.length else {
      return .unsupported
    }
    var bytes = [UInt8](repeating: 0, count: count)
    CFStringGetBytes(string, whole, encoding, 0, false, &bytes, count, nil)
    return .text(bytes)
  }

  /// The value as an object of Core Foundation.
  ///
  /// Text loses a first byte order mark on its way out: der_string.c and SecItem.cpp make it with
  /// this function, which skips one (CFStringEncodings.c).
  public var object: CFTypeRef {
    switch self {
    case .text(let bytes):
      let encoding = CFStringBuiltInEncodings.UTF8.rawValue
      return CFStringCreateWithBytes(nil, bytes, bytes.count, encoding, false)
    case .data(let bytes): return CFDataCreate(nil, bytes, bytes.count)
    case .number(var number): return CFNumberCreate(nil, .sInt64Type, &number)
    case .boolean(let boolean): return boolean ? kCFBooleanTrue : kCFBooleanFalse
    case .date(let date): return CFDateCreate(nil, date)
    case .list(let elements):
      var callbacks = kCFTypeArrayCallBacks
      let array: CFMutableArray = CFArrayCreateMutable(nil, 0, &callbacks)
      for object in elements.map(\.object) {
        withExtendedLifetime(object) { CFArrayAppendValue(array, Self.pointer(object)) }
      }
      return array
    case .dictionary(let pairs):
      var (keys, values) = (kCFTypeDictionaryKeyCallBacks, kCFTypeDictionaryValueCallBacks)
      let dictionary: CFMutableDictionary = CFDictionaryCreateMutable(nil, 0, &keys, &values)
      for (key, value) in pairs {
        let (key, value) = (Value.text(Array(key.utf8)).object, value.object)
        withExtendedLifetime((key, value)) {
          CFDictionarySetValue(dictionary, Self.pointer(key), Self.pointer(value))
        }
      }
      return dictionary
    case .unsupported: return kCFNull
    }
  }

  /// The bytes by which two values of an attribute are compared.
  ///
  /// SecItemSchema.c (S), SecDbItem.c (copyData): the digest of UTF-8, of data or of 32 bits.
  var bytes: [UInt8] {
    switch self {
    case .text(let bytes), .data(let bytes): bytes
    case .number(let number): withUnsafeBytes(of: Int32(truncatingIfNeeded: number), Array.init)
    case .boolean(let boolean): Value.number(boolean ? 1 : 0).bytes
    case .date(let date): withUnsafeBytes(of: date, Array.init)
    case .list, .dictionary, .unsupported: []
    }
  }

  /// The text, for keys and constants.
  public var string: String? {
    guard case .text(let bytes) = self else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The number that a flag has.
  ///
  /// SecItem.cpp (readNumber), SecItemServer.c (SecItemSynchronizable).
  var integer: Int64? {
    switch self {
    case .number(let number): number
    case .boolean(let boolean): boolean ? 1 : 0
    case .text: string.flatMap { text in Int64(text).flatMap { "\($0)" == text ? $0 : nil } }
    default: nil
    }
  }
}
