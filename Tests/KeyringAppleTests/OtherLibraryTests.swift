// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import AppleKeychainModel
import Keyring
import KeyringApple
import KeyringMigration
import KeyringStorage
import StandInKeychain
import Testing

/// The items of other libraries, as the sources of these write them.
struct OtherLibraryTests {
  struct Library: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The attributes by which the library finds its item again.
    let query: KeychainDictionary
    /// The attributes that it adds to them for a new item.
    let rest: KeychainDictionary
    let key: ItemKey
    /// The flag is only in the dictionaries of Valet, so the items of the others are in the file on macOS.
    var usesDataProtection: Bool { query[.usesDataProtection] != nil }
  }

  static let libraries: [Library] = [
    // KeychainAccess 4.2.2, Lib/KeychainAccess/Keychain.swift: Options.query and Options.attributes
    Library(
      testDescription: "KeychainAccess",
      query: [.service: .text("org.example.app"), .account: .text("authToken")],
      rest: [.accessible: .constant(.afterFirstUnlock), .synchronizable: .boolean(false)],
      key: .password(service: "org.example.app", account: "authToken")),
    Library(
      testDescription: "KeychainAccess, internet password",
      query: [
        .itemClass: .constant(.internetPassword), .server: .text("git.example.org"),
        .port: .number(8443), .protocol: .text("htps"), .authenticationType: .text("dflt"),
        .account: .text("me"),
      ],
      rest: [.accessible: .constant(.afterFirstUnlock), .synchronizable: .boolean(false)],
      key: .internetPassword(
        server: InternetServer(
          "git.example.org", port: 8443, protocol: .https, authenticationType: .default),
        account: "me")),
    // keychain-swift 24.0.0, Sources/KeychainSwift.swift: set(_:forKey:withAccess:)
    Library(
      testDescription: "keychain-swift", query: [.account: .text("my_authToken")],
      rest: [.accessible: .constant(.whenUnlocked)],
      key: ItemKey(kind: .password, attributes: ["username": "my_authToken"])),
    // Valet 5.1.0, Sources/Valet/Internal/Service.swift: generateBaseQuery() and secService. It also searches by the level.
    valet("Valet", service: valetService, level: .whenUnlocked),
    valet("Valet, shared group", service: sharedValetService, accessGroup: "TEAM.group"),
    valet(
      "Valet, shared group with an identifier",
      service: sharedValetService.replacing("_group_Accessible", with: "_group_main_Accessible"),
      accessGroup: "TEAM.group"),
    valet("Valet, group set explicitly", service: "group", accessGroup: "TEAM.group"),
    // SwiftyChain of June 2026, Sources/SwiftyChain/Backend/AppleKeychainBackend.swift: add(_:data:) and secQuery(from:)
    Library(
      testDescription: "SwiftyChain",
      query: [
        .service: .text("org.example.app"), .account: .text("authToken"),
        .synchronizable: .boolean(false),
      ], rest: [.accessible: .constant(.whenUnlocked)],
      key: .password(service: "org.example.app", account: "authToken")),
  ]

  private static func valet(
    _ description: String, service: String, accessGroup: String? = nil,
    level: KeychainConstant = .afterFirstUnlock
  ) -> Library {
    var query: KeychainDictionary = [
      .service: .text(service), .account: .text("authToken"), .accessible: .constant(level),
      .usesDataProtection: .boolean(true),
    ]
    query[.accessGroup] = accessGroup.map { .text($0) }
    return Library(
      testDescription: description, query: query, rest: [:],
      key: .password(service: service, account: "authToken", accessGroup: accessGroup))
  }

  static let valetService =
    "VAL_VALValet_initWithIdentifier:accessibility:_main_AccessibleWhenUnlocked"
  static let sharedValetService = """
    VAL_VALValet_initWithSharedAccessGroupIdentifier:accessibility:_group_AccessibleAfterFirstUnlock
    """

  let device = KeychainModel()

  private func program(_ platform: Platform) -> Caller {
    Caller(accessGroups: ["TEAM.app", "TEAM.group"], platform: platform)
  }

  private func keychain(
    of library: Library, _ platform: Platform
  ) -> AppleKeychainStorage.Keychain {
    platform == .iOS || library.usesDataProtection ? .dataProtection() : .fileBased
  }

  /// Stores an item as the library does, and returns a storage that has it.
  private func storage(with library: Library, _ platform: Platform) -> AppleKeychainStorage {
    var item: KeychainDictionary = [.itemClass: .constant(.genericPassword)]
    item.merge(library.query) { $1 }
    item.merge(library.rest) { $1 }
    item[.data] = .data(Secret("old"))
    let calls = StandInKeychain(device, program(platform))
    #expect(calls.add(item).status == 0)
    return AppleKeychainStorage(
      keychain(of: library, platform), on: device, for: program(platform))
  }

  /// Returns what the library reads.
  private func secret(of library: Library, _ platform: Platform) -> String? {
    var query: KeychainDictionary = [.itemClass: .constant(.genericPassword)]
    query.merge(library.query) { $1 }
    query[.returnsData] = .boolean(true)
    query[.returnsAttributes] = .boolean(true)
    let calls = StandInKeychain(device, program(platform))
    return calls.copyMatching(query).items.first?[.data]?.string
  }

  @Test(arguments: libraries, [Platform.macOS, .iOS])
  func `a library's item and a property's are one`(library: Library, platform: Platform) throws {
    let storage = storage(with: library, platform)
    let level = device.rows.first?.attributes["pdmn"]
    #expect(secret(of: library, platform) == "old")
    #expect(try storage.password(for: library.key) == "old")
    #expect(try storage.items(matching: ItemQuery()).map(\.key) == [library.key])

    try storage.setPassword("new", for: library.key)
    #expect(device.rows.count == 1)
    #expect(device.rows.first?.attributes["pdmn"] == level)
    #expect(secret(of: library, platform) == "new")

    #expect(try storage.remove(library.key))
    #expect(device.rows.isEmpty)
  }

  @Test(arguments: libraries.filter { $0.testDescription.hasPrefix("Valet") })
  func `Valet finds nothing at another level`(library: Library) throws {
    let storage = storage(with: library, .iOS)
    try storage.updateProtection(of: library.key)
    #expect(secret(of: library, .iOS) == nil)
    #expect(try storage.password(for: library.key) == "old")
  }

  static let renamed = libraries.filter { (library: Library) -> Bool in
    library.query[.service]?.string != "org.example.app"
  }

  @Test(arguments: renamed, [Platform.macOS, .iOS])
  func `an item gets a property's key`(library: Library, platform: Platform) throws {
    let storage = storage(with: library, platform)
    for _ in 1...2 {
      let property = Password(
        "authToken", service: "org.example.app", movingFrom: library.key, storage: storage)
      #expect(try property.read() == "old")
      #expect(device.rows.count == 1)
    }
    if library.usesDataProtection {
      // The new item has the level of the storage.
      #expect(device.rows.first?.attributes["pdmn"]?.string == "cku")
    }
  }

  @Test func `items move between the keychains of a Mac, and to other storages and back`() throws {
    for library in Self.libraries.prefix(3) { _ = storage(with: library, .macOS) }
    let keys = Self.libraries.prefix(3).map(\.key)
    let file = AppleKeychainStorage(.fileBased, on: device)
    let dataProtection = AppleKeychainStorage(on: device)
    let memory = InMemoryStorage()
    let storages: [any SecureStorage] = [file, dataProtection, memory, dataProtection, file]
    for (source, destination) in zip(storages, storages.dropFirst()) {
      #expect(try Migration(of: keys, from: source, to: destination).move().count == 3)
      #expect(try source.items(matching: ItemQuery()).isEmpty)
      for key in keys { #expect(try destination.password(for: key) == "old") }
    }
    let query = ItemQuery.service("org.example.app")
    #expect(try Migration(of: query, from: file, to: dataProtection).move().count == 1)
  }
}
#endif
