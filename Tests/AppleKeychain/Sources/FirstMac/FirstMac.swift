// SPDX-License-Identifier: Apache-2.0

// The part of Scripts/first-mac that calls the Security framework. Each command prints the answer to one question.
#if os(macOS) || KEYRING_APPLE_STAND_IN
import CoreFoundation
import Security

/// A program that asks the default keychain in a file, and never the user.
@main struct FirstMac {
  static func main() {
    _ = SecKeychainSetUserInteractionAllowed(false)
    let key = item("first-mac")
    switch CommandLine.arguments.last {
    case "store": print(add(key + [(kSecValueData, data("old"))]))
    case "write": print(update(key, [(kSecValueData, data("new"))]))
    case "label": print(update(key, [(kSecAttrLabel, text("label"))]))
    case "read": print(read(key).status)
    case "delete": print(SecItemDelete(dictionary(key)))
    case "empty": print(emptyUpdate())
    case "empty-add":
      let key = item("first-mac, empty")
      print(add(key + [(kSecValueData, data(""))]))
      _ = SecItemDelete(dictionary(key))
    case "forms": print(forms())
    case "status":
      var status: SecKeychainStatus = 0
      print(SecKeychainGetStatus(nil, &status))
    default: print("unknown command")
    }
  }

  /// Replaces a secret by an empty one, and reads what is left.
  private static func emptyUpdate() -> String {
    let key = item("first-mac, empty")
    guard add(key + [(kSecValueData, data("old"))]) == errSecSuccess else { return "not stored" }
    let status = update(key, [(kSecValueData, data(""))])
    let left = read(key)
    _ = SecItemDelete(dictionary(key))
    if status != errSecSuccess { return "\(status)" }
    return left.count == 0 ? "emptied" : "ignored"
  }

  /// Adds an item without an authentication type, and one with an empty one, and counts them.
  private static func forms() -> String {
    let server: Entries = [
      (kSecClass, kSecClassInternetPassword), (kSecAttrServer, text("first-mac")),
      (kSecUseDataProtectionKeychain, kCFBooleanFalse),
    ]
    let statuses = [add(server), add(server + [(kSecAttrAuthenticationType, text(""))])]
    var count = 0
    while SecItemDelete(dictionary(server)) == errSecSuccess { count += 1 }
    return (statuses.map { "\($0)" } + ["\(count)"]).joined(separator: " ")
  }

  private typealias Entries = [(CFString, CFTypeRef)]

  private static func item(_ account: String) -> Entries {
    [
      (kSecClass, kSecClassGenericPassword), (kSecAttrService, text("swift-keyring")),
      (kSecAttrAccount, text(account)), (kSecUseDataProtectionKeychain, kCFBooleanFalse),
    ]
  }

  private static func add(_ entries: Entries) -> OSStatus { SecItemAdd(dictionary(entries), nil) }

  private static func update(_ query: Entries, _ changes: Entries) -> OSStatus {
    SecItemUpdate(dictionary(query), dictionary(changes))
  }

  private static func read(_ query: Entries) -> (status: OSStatus, count: Int?) {
    var result: CFTypeRef?
    let status = SecItemCopyMatching(
      dictionary(query + [(kSecReturnData, kCFBooleanTrue)]), &result)
    guard let result, CFGetTypeID(result) == CFDataGetTypeID() else { return (status, nil) }
    let data: CFData = Unmanaged.fromOpaque(pointer(result)).takeUnretainedValue()
    return (status, CFDataGetLength(data))
  }

  private static func text(_ text: String) -> CFTypeRef {
    CFStringCreateWithCharacters(nil, Array(text.utf16), text.utf16.count)
  }

  private static func data(_ text: String) -> CFTypeRef {
    CFDataCreate(nil, Array(text.utf8), text.utf8.count)
  }

  private static func pointer(_ object: CFTypeRef) -> UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
  }

  private static func dictionary(_ entries: Entries) -> CFDictionary {
    var (keys, values) = (kCFTypeDictionaryKeyCallBacks, kCFTypeDictionaryValueCallBacks)
    let dictionary: CFMutableDictionary = CFDictionaryCreateMutable(nil, 0, &keys, &values)
    for (key, value) in entries {
      withExtendedLifetime((key, value)) {
        CFDictionarySetValue(dictionary, pointer(key), pointer(value))
      }
    }
    return dictionary
  }
}
#else
@main struct FirstMac {
  static func main() { print("Only a Mac has the answers. See Scripts/first-mac") }
}
#endif
