// SPDX-License-Identifier: Apache-2.0

// The one file that calls the Security framework. On Linux, only tests compile it, with a stand-in for the framework:
// so it uses Core Foundation's C functions, which both systems have.
#if canImport(Security)
internal import CoreFoundation
internal import KeyringStorage
internal import Security
#if KEYRING_APPLE_STAND_IN
package import KeyringApple
#endif

/// Apple's Security framework.
package struct SystemKeychain: KeychainCalls {
  /// A closure that makes an `LAContext`, or `nil` where there is none.
  let context: @Sendable (_ prompt: String?, _ mayAsk: Bool) -> AnyObject?

  package init(context: @escaping @Sendable (String?, Bool) -> AnyObject?) { self.context = context }

  package func add(_ attributes: KeychainDictionary) -> KeychainResult {
    result(of: attributes) { SecItemAdd($0, &$1) }
  }

  package func copyMatching(_ query: KeychainDictionary) -> KeychainResult {
    result(of: query) { SecItemCopyMatching($0, &$1) }
  }

  package func update(_ query: KeychainDictionary, _ changes: KeychainDictionary) -> Int32 {
    SecItemUpdate(dictionary(query), dictionary(changes))
  }

  package func delete(_ query: KeychainDictionary) -> Int32 { SecItemDelete(dictionary(query)) }

  package func message(for status: Int32) -> String? {
    SecCopyErrorMessageString(status, nil).map { Self.text($0) }
  }

  private func result(
    of entries: KeychainDictionary, _ call: (CFDictionary, inout CFTypeRef?) -> OSStatus
  ) -> KeychainResult {
    var result: CFTypeRef?
    let status = call(dictionary(entries), &result)
    guard status == errSecSuccess, let result else { return KeychainResult(status: status) }
    return withExtendedLifetime(result) {
      guard CFGetTypeID(result) == CFArrayGetTypeID() else {
        return KeychainResult(status: status, items: [Self.entries(Self.pointer(result))])
      }
      let array: CFArray = Self.object(Self.pointer(result))
      let items = (0..<CFArrayGetCount(array)).map { CFArrayGetValueAtIndex(array, $0) }
      return KeychainResult(status: status, items: items.compactMap { $0.map(Self.entries) })
    }
  }

  private func dictionary(_ entries: KeychainDictionary) -> CFDictionary {
    var (keys, values) = (kCFTypeDictionaryKeyCallBacks, kCFTypeDictionaryValueCallBacks)
    let dictionary: CFMutableDictionary = CFDictionaryCreateMutable(nil, 0, &keys, &values)
    for (entry, value) in entries {
      guard let object = object(value) else { continue }
      withExtendedLifetime(object) {
        CFDictionarySetValue(dictionary, Self.pointer(Self.name(of: entry)), Self.pointer(object))
      }
    }
    return dictionary
  }

  private func object(_ value: KeychainValue) -> CFTypeRef? {
    switch value {
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
    case .constant(let constant): return Self.value(of: constant)
    case .accessControl(let level, let flags):
      let flags = SecAccessControlCreateFlags(rawValue: CFOptionFlags(flags))
      // Without an access control, the item must not be stored, and null is refused.
      return SecAccessControlCreateWithFlags(nil, Self.value(of: level), flags, nil) ?? kCFNull
    case .context(let prompt, let mayAsk): return context(prompt, mayAsk)
    }
  }

  private static func name(of entry: KeychainEntry) -> CFString {
    switch entry {
    case .itemClass: kSecClass
    case .account: kSecAttrAccount
    case .service: kSecAttrService
    case .accessGroup: kSecAttrAccessGroup
    case .synchronizable: kSecAttrSynchronizable
    case .securityDomain: kSecAttrSecurityDomain
    case .server: kSecAttrServer
    case .protocol: kSecAttrProtocol
    case .authenticationType: kSecAttrAuthenticationType
    case .port: kSecAttrPort
    case .path: kSecAttrPath
    case .label: kSecAttrLabel
    case .comment: kSecAttrComment
    case .description: kSecAttrDescription
    case .generic: kSecAttrGeneric
    case .creationDate: kSecAttrCreationDate
    case .modificationDate: kSecAttrModificationDate
    case .accessible: kSecAttrAccessible
    case .accessControl: kSecAttrAccessControl
    case .data: kSecValueData
    case .persistentReference: kSecValuePersistentRef
    case .limit: kSecMatchLimit
    case .returnsData: kSecReturnData
    case .returnsAttributes: kSecReturnAttributes
    case .returnsPersistentReference: kSecReturnPersistentRef
    case .usesDataProtection: kSecUseDataProtectionKeychain
    case .authenticationContext: kSecUseAuthenticationContext
    }
  }

  private static func value(of constant: KeychainConstant) -> CFString {
    switch constant {
    case .genericPassword: kSecClassGenericPassword
    case .internetPassword: kSecClassInternetPassword
    case .limitAll: kSecMatchLimitAll
    case .whenUnlocked: kSecAttrAccessibleWhenUnlocked
    case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlock
    case .whenUnlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
    case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
    case .whenPasscodeSetThisDeviceOnly: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
    }
  }

  private static func entries(_ pointer: UnsafeRawPointer) -> KeychainDictionary {
    let dictionary: CFDictionary = object(pointer)
    return KeychainEntry.allCases.reduce(into: [:]) { entries, entry in
      guard let value = CFDictionaryGetValue(dictionary, Self.pointer(name(of: entry))) else { return }
      entries[entry] = Self.value(value)
    }
  }

  private static func value(_ pointer: UnsafeRawPointer) -> KeychainValue? {
    switch CFGetTypeID(object(pointer) as CFTypeRef) {
    case CFStringGetTypeID(): return .text(text(object(pointer)))
    case CFDataGetTypeID():
      let data: CFData = object(pointer)
      let bytes = UnsafeRawBufferPointer(start: CFDataGetBytePtr(data), count: CFDataGetLength(data))
      return .data(Secret(copying: bytes))
    case CFNumberGetTypeID():
      var number: Int64 = 0
      CFNumberGetValue(object(pointer), .sInt64Type, &number)
      return .number(number)
    case CFDateGetTypeID(): return .date(CFDateGetAbsoluteTime(object(pointer)))
    default: return nil
    }
  }

  private static func text(_ string: CFString) -> String {
    var units = [UInt16](repeating: 0, count: CFStringGetLength(string))
    CFStringGetCharacters(string, CFRange(location: 0, length: units.count), &units)
    return String(decoding: units, as: UTF16.self)
  }

  // Swift on Linux can't cast to a type of Core Foundation.

  private static func pointer(_ object: CFTypeRef) -> UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
  }

  private static func object<Object: AnyObject>(_ pointer: UnsafeRawPointer) -> Object {
    Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
  }
}
#endif
