// SPDX-License-Identifier: Apache-2.0

import AppleKeychainModel
import CoreFoundation
import Security

/// One of the keychains, with the four calls as a test writes them.
enum Place: CaseIterable {
  case dataProtection
  case file
  /// The flag is not given.
  case either

  typealias Pairs = KeyValuePairs<CFString, Any>

  func add(_ pairs: Pairs) -> OSStatus { SecItemAdd(dictionary(pairs), nil) }

  func added(_ pairs: Pairs) -> (status: OSStatus, value: Value?) {
    var result: CFTypeRef?
    let status = SecItemAdd(dictionary(pairs), &result)
    return (status, result.map { Value($0) })
  }

  func copy(_ pairs: Pairs) -> (status: OSStatus, value: Value?) {
    var result: CFTypeRef?
    let status = SecItemCopyMatching(dictionary(pairs), &result)
    return (status, result.map { Value($0) })
  }

  func update(_ pairs: Pairs, _ changes: Pairs) -> OSStatus {
    SecItemUpdate(dictionary(pairs), Place.either.dictionary(changes))
  }

  func delete(_ pairs: Pairs) -> OSStatus { SecItemDelete(dictionary(pairs)) }

  private func dictionary(_ pairs: Pairs) -> CFDictionary {
    var (keys, values) = (kCFTypeDictionaryKeyCallBacks, kCFTypeDictionaryValueCallBacks)
    let dictionary: CFMutableDictionary = CFDictionaryCreateMutable(nil, 0, &keys, &values)
    func set(_ key: CFString, _ value: CFTypeRef) {
      let value = Unmanaged.passUnretained(value)
      CFDictionarySetValue(dictionary, Unmanaged.passUnretained(key).toOpaque(), value.toOpaque())
    }
    if self != .either {
      set(kSecUseDataProtectionKeychain, Value.boolean(self == .dataProtection).object)
    }
    for (key, value) in pairs {
      switch value {
      case let value as Value: set(key, value.object)
      case let text as String:
        // From UTF-16, which alone keeps a byte order mark.
        set(key, CFStringCreateWithCharacters(nil, Array(text.utf16), text.utf16.count))
      case let bytes as [UInt8]: set(key, Value.data(bytes).object)
      case let number as Int: set(key, Value.number(Int64(number)).object)
      case let boolean as Bool: set(key, Value.boolean(boolean).object)
      default: set(key, value as AnyObject)
      }
    }
    return dictionary
  }
}

extension Value {
  /// An entry of a dictionary.
  subscript(_ key: CFString) -> Value? {
    guard case .dictionary(let pairs) = self, let key = Value(key).string else { return nil }
    return pairs[key]
  }

  static func text(_ text: String) -> Value { .text(Array(text.utf8)) }

  var elements: [Value]? {
    guard case .list(let elements) = self else { return nil }
    return elements
  }
}
