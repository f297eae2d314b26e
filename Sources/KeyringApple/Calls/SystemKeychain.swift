// SPDX-License-Identifier: Apache-2.0

// The one file that calls the Security framework. On Linux, only tests compile it, with a stand-in for
// the framework: so it uses Core Foundation's C functions, which both systems have.
#if canImport(Darwin) || KEYRING_APPLE_STAND_IN
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

  package init(context: @escaping @Sendable (_ prompt: String?, _ mayAsk: Bool) -> AnyObject?) {
    self.context = context
  }

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

  package func status() -> Int32 {
    #if os(macOS) || KEYRING_APPLE_STAND_IN
    var status: SecKeychainStatus = 0
    return SecKeychainGetStatus(nil, &status)
    #else
    return errSecUnimplemented
    #endif
  }

  package func message(for status: Int32) -> String? {
    SecCopyErrorMessageString(status, nil).map { $0.swiftText }
  }

  private func result(
    of entries: KeychainDictionary, _ call: (CFDictionary, inout CFTypeRef?) -> OSStatus
  ) -> KeychainResult {
    var result: CFTypeRef?
    let status = call(dictionary(entries), &result)
    guard status == errSecSuccess, let result else { return KeychainResult(status: status) }
    guard CFGetTypeID(result) == CFArrayGetTypeID() else {
      return KeychainResult(status: status, items: [Self.entries(result)])
    }
    let array: CFArray = cast(result)
    // The array holds its elements.
    let items = withExtendedLifetime(array) {
      (0..<CFArrayGetCount(array)).compactMap { index in
        CFArrayGetValueAtIndex(array, index).map { Self.entries(unretained($0)) }
      }
    }
    return KeychainResult(status: status, items: items)
  }

  private func dictionary(_ entries: KeychainDictionary) -> CFDictionary {
    var (keys, values) = (kCFTypeDictionaryKeyCallBacks, kCFTypeDictionaryValueCallBacks)
    let dictionary: CFMutableDictionary = CFDictionaryCreateMutable(nil, 0, &keys, &values)
    for (entry, value) in entries {
      guard let object = object(value) else { continue }
      withExtendedLifetime(object) {
        CFDictionarySetValue(dictionary, pointer(to: Self.name(of: entry)), pointer(to: object))
      }
    }
    return dictionary
  }

  private func object(_ value: KeychainValue) -> CFTypeRef? {
    switch value {
    case .constant(let constant): return Self.value(of: constant)
    case .accessControl(let level, let flags):
      let flags = SecAccessControlCreateFlags(rawValue: CFOptionFlags(flags))
      // Without an access control, the item must not be stored, and null is refused.
      return SecAccessControlCreateWithFlags(nil, Self.value(of: level), flags, nil) ?? kCFNull
    case .context(let prompt, let mayAsk): return context(prompt, mayAsk)
    case .text, .data, .number, .boolean, .date, .list: return value.object
    }
  }

  private static func entries(_ object: CFTypeRef) -> KeychainDictionary {
    guard CFGetTypeID(object) == CFDictionaryGetTypeID() else { return [:] }
    let dictionary: CFDictionary = cast(object)
    return KeychainEntry.allCases.reduce(into: [:]) { entries, entry in
      let value = CFDictionaryGetValue(dictionary, pointer(to: name(of: entry)))
      if let value { entries[entry] = KeychainValue(unretained(value)) }
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
    case .matchedItems: kSecMatchItemList
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
}
#endif
