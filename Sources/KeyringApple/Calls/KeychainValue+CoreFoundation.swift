// SPDX-License-Identifier: Apache-2.0

// The values as objects of Core Foundation, by its C functions, which macOS and Linux have.
#if canImport(Darwin) || KEYRING_APPLE_STAND_IN
internal import CoreFoundation
internal import KeyringStorage
#if KEYRING_APPLE_STAND_IN
internal import KeyringApple
#endif

extension KeychainValue {
  /// The value as an object, or `nil` for one of the Security framework.
  var object: CFTypeRef? {
    switch self {
    // From UTF-16, because a byte order mark would be lost from UTF-8.
    case .text(let text):
      return CFStringCreateWithCharacters(nil, Array(text.utf16), text.utf16.count)
    case .data(let data):
      return data.withUnsafeBytes {
        CFDataCreate(nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count)
      }
    case .number(var number): return CFNumberCreate(nil, .sInt64Type, &number)
    case .boolean(let boolean): return boolean ? kCFBooleanTrue : kCFBooleanFalse
    case .date(let date): return CFDateCreate(nil, date)
    case .list(let values):
      var callbacks = kCFTypeArrayCallBacks
      let array: CFMutableArray = CFArrayCreateMutable(nil, 0, &callbacks)
      for object in values.compactMap(\.object) {
        withExtendedLifetime(object) { CFArrayAppendValue(array, pointer(to: object)) }
      }
      return array
    case .constant, .accessControl, .context: return nil
    }
  }

  /// Creates a value from an object, or `nil` for an object of another type.
  init?(_ object: CFTypeRef) {
    switch CFGetTypeID(object) {
    case CFStringGetTypeID(): self = .text((cast(object) as CFString).swiftText)
    case CFDataGetTypeID():
      let data: CFData = cast(object)
      let count = CFDataGetLength(data)
      self = withExtendedLifetime(data) {
        let bytes = UnsafeRawBufferPointer(start: CFDataGetBytePtr(data), count: count)
        return .data(Secret(copying: bytes))
      }
    case CFNumberGetTypeID():
      var number: Int64 = 0
      CFNumberGetValue(cast(object), .sInt64Type, &number)
      self = .number(number)
    case CFDateGetTypeID(): self = .date(CFDateGetAbsoluteTime(cast(object)))
    default: return nil
    }
  }
}

extension CFString {
  /// The same text.
  var swiftText: String {
    var units = [UInt16](repeating: 0, count: CFStringGetLength(self))
    CFStringGetCharacters(self, CFRange(location: 0, length: units.count), &units)
    return String(decoding: units, as: UTF16.self)
  }
}

func pointer(to object: CFTypeRef) -> UnsafeRawPointer {
  UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
}

func unretained<Object: AnyObject>(_ pointer: UnsafeRawPointer) -> Object {
  Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
}

/// Casts an object, which Swift on Linux can't do with the types of Core Foundation.
func cast<Object: AnyObject>(_ object: CFTypeRef) -> Object {
  withExtendedLifetime(object) { unretained(pointer(to: object)) }
}
#endif
