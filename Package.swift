// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// Returns a product of a package that is fetched only for a trait.
func product(_ name: String, of package: String, for trait: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: [trait]))
}

let cKeyringLinux: Target.Dependency = .target(
  name: "CKeyringLinux", condition: .when(platforms: [.linux]))
let cKeyringLibSecret: Target.Dependency = .target(
  name: "CKeyringLibSecret", condition: .when(platforms: [.linux], traits: ["SecretService"]))

let package = Package(
  name: "swift-keyring",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Keyring", targets: ["Keyring"]),
    .library(name: "KeyringStorage", targets: ["KeyringStorage"]),
    .library(name: "KeyringMigration", targets: ["KeyringMigration"]),
    .library(name: "KeyringFile", targets: ["KeyringFile"]),
    .library(name: "KeyringEtcd", targets: ["KeyringEtcd"]),
    .library(name: "KeyringApple", targets: ["KeyringApple"]),
    .library(name: "KeyringConfiguration", targets: ["KeyringConfiguration"]),
    .library(name: "KeyringTesting", targets: ["KeyringTesting"]),
  ],
  traits: [
    .trait(
      name: "SecretService",
      description: "Linux: the freedesktop Secret Service is the default storage (needs libsecret)."
    ),
    .trait(
      name: "EncryptedFile",
      description: "The product KeyringFile: secrets in an encrypted file (needs swift-crypto).",
      enabledTraits: ["Sealing"]),
    .trait(
      name: "Etcd",
      description:
        "The product KeyringEtcd: a fleet's secrets in etcd (needs swift-crypto and async-http-client).",
      enabledTraits: ["Sealing"]),
    .trait(
      name: "Sealing",
      description: "Enabled by other traits: encryption by this package (needs swift-crypto)."),
    .trait(
      name: "Configuration",
      description: "The product KeyringConfiguration: values for apple/swift-configuration."
    ),
    .trait(
      name: "Logging",
      description: "What the storages do, in the program's log (needs swift-log)."),
    .trait(
      name: "Metrics",
      description: "What the storages do, in the program's metrics (needs swift-metrics)."),
    .default(enabledTraits: ["SecretService"]),
  ],
  dependencies: [
    // Every use of one has the condition of its trait: only then SwiftPM does not fetch it for
    // an app that has the trait off.
    // Other packages of an app may need either major version.
    .package(url: "https://github.com/apple/swift-crypto.git", "3.12.3"..<"5.0.0"),
    .package(
      url: "https://github.com/apple/swift-configuration.git", from: "1.4.0", traits: []),
    .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
    // It has a logger of the current task.
    .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.100.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
  ],
  targets: [
    .systemLibrary(name: "CKeyringLinux"),
    // The C library and Foundation have other names on other platforms.
    .target(name: "KeyringPlatform", dependencies: [cKeyringLinux]),
    .target(name: "KeyringCore", dependencies: ["KeyringPlatform"]),
    // What storages run on: threads, tasks and files. Nothing in it is for other packages.
    .target(
      name: "KeyringRuntime",
      dependencies: [
        "KeyringCore", "KeyringPlatform", product("Logging", of: "swift-log", for: "Logging"),
        product("CoreMetrics", of: "swift-metrics", for: "Metrics"),
      ]),
    .target(
      name: "KeyringStorage", dependencies: ["KeyringCore", "KeyringPlatform", "KeyringRuntime"]),
    // It loads libsecret when the keyring is first used, and needs nothing to be built.
    .target(
      name: "CKeyringLibSecret", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(
      name: "KeyringSecretService",
      dependencies: [
        "KeyringSealing", "KeyringStorage", "KeyringPlatform", "KeyringRuntime", cKeyringLibSecret,
      ]),
    .target(
      name: "Keyring",
      dependencies: [
        "KeyringCore", "KeyringStorage", "KeyringSecretService", "KeyringSealing",
        "KeyringPlatform", "KeyringRuntime",
        .target(name: "KeyringFile", condition: .when(traits: ["EncryptedFile"])),
      ]),
    // What every storage shares that encrypts its items by itself.
    .target(
      name: "KeyringSealing",
      dependencies: [
        "KeyringStorage", "KeyringPlatform", "KeyringRuntime",
        product("Crypto", of: "swift-crypto", for: "Sealing"),
        // For scrypt. Version 3 has the product under this name only.
        product("_CryptoExtras", of: "swift-crypto", for: "Sealing"),
      ]),
    .target(
      name: "KeyringFile",
      dependencies: [
        "KeyringSealing", "KeyringStorage", "KeyringPlatform", "KeyringRuntime",
        product("Crypto", of: "swift-crypto", for: "EncryptedFile"),
      ]),
    .target(
      name: "KeyringEtcd",
      dependencies: [
        "KeyringCore", "KeyringSealing", "KeyringStorage", "KeyringPlatform", "KeyringRuntime",
        product("AsyncHTTPClient", of: "async-http-client", for: "Etcd"),
        product("NIOCore", of: "swift-nio", for: "Etcd"),
        product("NIOHTTP1", of: "swift-nio", for: "Etcd"),
        product("NIOPosix", of: "swift-nio", for: "Etcd"),
        product("NIOSSL", of: "swift-nio-ssl", for: "Etcd"),
      ]),
    .target(
      name: "KeyringApple", dependencies: ["KeyringStorage", "KeyringPlatform", "KeyringRuntime"]),
    .target(
      name: "KeyringConfiguration",
      dependencies: [
        "KeyringStorage", "KeyringPlatform", "KeyringRuntime",
        product("Configuration", of: "swift-configuration", for: "Configuration"),
      ]),
    .target(
      name: "KeyringMigration",
      dependencies: ["Keyring", "KeyringStorage", "KeyringPlatform", "KeyringRuntime"]),
    .target(
      name: "KeyringTesting",
      dependencies: ["Keyring", "KeyringStorage", "KeyringPlatform", "KeyringRuntime"]),

    .executableTarget(
      name: "SecureSettings", dependencies: ["Keyring", "KeyringFile"],
      path: "Examples/SecureSettings"),
    .executableTarget(
      name: "HeadlessService", dependencies: ["Keyring", "KeyringFile", "KeyringStorage"],
      path: "Examples/HeadlessService"),
    .executableTarget(
      name: "ManagedService", dependencies: ["Keyring"], path: "Examples/ManagedService"),

    // Tests start several of it at once, and kill it.
    .executableTarget(
      name: "KeyringWorker",
      dependencies: [
        "Keyring", "KeyringEtcd", "KeyringFile", "KeyringRuntime", "KeyringStorage", "StorageModel",
      ],
      path: "Tests/Fixtures/KeyringWorker"),
    .target(
      name: "TestPrograms", dependencies: ["KeyringStorage", "KeyringRuntime"],
      path: "Tests/Fixtures/TestPrograms"),
    // The library of an app that uses it by itself.
    .systemLibrary(
      name: "AppLibSecret", path: "Tests/Fixtures/AppLibSecret", pkgConfig: "libsecret-1",
      providers: [.apt(["libsecret-1-dev", "libglib2.0-dev"])]),
    .target(
      name: "StorageModel", dependencies: ["Keyring", "KeyringStorage", "KeyringRuntime"],
      path: "Tests/Fixtures/StorageModel"),
    .testTarget(
      name: "KeyringCoreTests", dependencies: ["KeyringCore", "TestPrograms", cKeyringLinux]),
    .testTarget(
      name: "KeyringStorageTests",
      dependencies: [
        "Keyring", "KeyringStorage", "KeyringPlatform", "KeyringRuntime", "TestPrograms",
        cKeyringLinux,
      ]),
    .testTarget(
      name: "KeyringTests",
      dependencies: [
        "Keyring", "KeyringStorage", "KeyringRuntime", "KeyringTesting", "KeyringWorker",
        "StorageModel", "TestPrograms",
      ]),
    .testTarget(
      name: "KeyringMigrationTests",
      dependencies: [
        "Keyring", "KeyringMigration", "KeyringStorage", "KeyringRuntime", "KeyringTesting",
        "StorageModel", "TestPrograms", cKeyringLinux,
      ]),
    .testTarget(
      name: "KeyringFileTests",
      dependencies: [
        "Keyring", "KeyringFile", "KeyringSealing", "KeyringStorage", "KeyringRuntime",
        "KeyringTesting", "KeyringWorker", "StorageModel", "TestPrograms", cKeyringLinux,
        product("Crypto", of: "swift-crypto", for: "EncryptedFile"),
        product("_CryptoExtras", of: "swift-crypto", for: "EncryptedFile"),
        product("InMemoryLogging", of: "swift-log", for: "Logging"),
        product("Logging", of: "swift-log", for: "Logging"),
        product("CoreMetrics", of: "swift-metrics", for: "Metrics"),
        product("MetricsTestKit", of: "swift-metrics", for: "Metrics"),
      ]),
    .testTarget(
      name: "KeyringSecretServiceTests",
      dependencies: [
        "Keyring", "KeyringFile", "KeyringMigration", "KeyringSecretService", "KeyringStorage",
        "KeyringRuntime", "KeyringSealing", "KeyringTesting", "KeyringWorker", "HeadlessService",
        "SecureSettings", "StorageModel", "TestPrograms",
        .target(
          name: "AppLibSecret", condition: .when(platforms: [.linux], traits: ["SecretService"])),
        product("InMemoryLogging", of: "swift-log", for: "Logging"),
        product("Logging", of: "swift-log", for: "Logging"),
      ]),
    .testTarget(
      name: "KeyringEtcdTests",
      dependencies: [
        "Keyring", "KeyringCore", "KeyringEtcd", "KeyringPlatform", "KeyringRuntime",
        "KeyringSealing", "KeyringStorage", "KeyringTesting", "KeyringWorker", "TestPrograms",
        product("NIOCore", of: "swift-nio", for: "Etcd"),
        product("NIOPosix", of: "swift-nio", for: "Etcd"),
      ]),
    .testTarget(
      name: "KeyringConfigurationTests",
      dependencies: [
        "Keyring", "KeyringConfiguration", "KeyringStorage", "KeyringTesting", "TestPrograms",
        product("Configuration", of: "swift-configuration", for: "Configuration"),
        product("ConfigurationTesting", of: "swift-configuration", for: "Configuration"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

#if os(Linux)
// The stand-in for Apple's keychains, and the file of KeyringApple that calls it.
let model = "Tests/AppleKeychainModel"
package.targets += [
  .systemLibrary(name: "Security", path: "\(model)/Sources/Security"),
  .target(
    name: "AppleKeychainModel", dependencies: ["Security"],
    path: "\(model)/Sources/AppleKeychainModel"),
  .testTarget(
    name: "AppleKeychainModelTests", dependencies: ["AppleKeychainModel", "Security"],
    path: "\(model)/Tests/AppleKeychainModelTests"),
  .target(
    name: "StandInKeychain",
    dependencies: ["AppleKeychainModel", "KeyringApple", "KeyringStorage", "Security"],
    path: "Tests/Fixtures/StandInKeychain"),
  .testTarget(
    name: "KeyringAppleTests",
    dependencies: [
      "AppleKeychainModel", "Keyring", "KeyringApple", "KeyringMigration", "KeyringStorage",
      "KeyringRuntime", "KeyringTesting", "StandInKeychain", "StorageModel", "TestPrograms",
    ]),
]
#endif

// Decisions/0005-strict-memory-safety.md says what stands in the way of the other modules.
let strict: Set = [
  "Keyring", "KeyringApple", "KeyringConfiguration", "KeyringCore", "KeyringPlatform",
  "KeyringStorage", "KeyringTesting",
]

for target in package.targets where target.type != .system {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ]
  if strict.contains(target.name) { target.swiftSettings?.append(.strictMemorySafety()) }
  if target.name == "KeyringSecretService" {
    target.swiftSettings?.append(.enableUpcomingFeature("NonisolatedNonsendingByDefault"))
  }
  if target.name == "StandInKeychain" {
    target.swiftSettings?.append(.define("KEYRING_APPLE_STAND_IN"))
  }
}
