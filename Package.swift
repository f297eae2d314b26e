// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
  name: "swift-keyring",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Keyring", targets: ["Keyring"]),
    .library(name: "KeyringStorage", targets: ["KeyringStorage"]),
    .library(name: "KeyringMigration", targets: ["KeyringMigration"]),
    .library(name: "KeyringFile", targets: ["KeyringFile"]),
    .library(name: "KeyringEtcd", targets: ["KeyringEtcd"]),
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
    // The Swift Package Index builds packages on machines without libsecret.
    .default(enabledTraits: Context.environment["SPI_BUILD"] == nil ? ["SecretService"] : []),
  ],
  dependencies: [
    // Every use of one has the condition of its trait: only then SwiftPM does not fetch it for
    // an app that has the trait off.
    .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
    .package(
      url: "https://github.com/apple/swift-configuration.git", from: "1.4.0", traits: []),
    .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.100.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
  ],
  targets: [
    .systemLibrary(name: "CLinux"),
    // The C library and Foundation have other names on other platforms.
    .target(name: "KeyringLibc"),
    .target(name: "KeyringFoundation"),
    .target(
      name: "KeyringCore",
      dependencies: [
        "KeyringFoundation", "KeyringLibc",
        .target(name: "CLinux", condition: .when(platforms: [.linux])),
      ]),
    .target(
      name: "KeyringStorage",
      dependencies: [
        "KeyringCore", "KeyringFoundation", "KeyringLibc",
        .target(name: "CLinux", condition: .when(platforms: [.linux])),
      ]),
    .systemLibrary(
      name: "CLibSecret",
      pkgConfig: "libsecret-1",
      providers: [
        .apt(["libsecret-1-dev", "libglib2.0-dev"]), .yum(["libsecret-devel", "glib2-devel"]),
      ]),
    .target(
      name: "KeyringSecretService",
      dependencies: [
        "KeyringSealing", "KeyringStorage", "KeyringFoundation", "KeyringLibc",
        .target(
          name: "CLibSecret",
          condition: .when(platforms: [.linux], traits: ["SecretService"])),
      ]),
    .target(
      name: "Keyring",
      dependencies: [
        "KeyringCore", "KeyringFile", "KeyringStorage", "KeyringSecretService", "KeyringFoundation",
        "KeyringLibc",
      ]),
    // What every storage shares that encrypts its items by itself.
    .target(
      name: "KeyringSealing",
      dependencies: [
        "KeyringStorage", "KeyringFoundation", "KeyringLibc",
        .target(name: "CLinux", condition: .when(platforms: [.linux])),
        .product(
          name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Sealing"])),
        // For scrypt.
        .product(
          name: "CryptoExtras", package: "swift-crypto",
          condition: .when(traits: ["Sealing"])),
      ]),
    .target(
      name: "KeyringFile",
      dependencies: [
        "KeyringSealing", "KeyringStorage", "KeyringFoundation", "KeyringLibc",
        .product(
          name: "Crypto", package: "swift-crypto", condition: .when(traits: ["EncryptedFile"])),
      ]),
    .target(
      name: "KeyringEtcd",
      dependencies: [
        "KeyringCore", "KeyringSealing", "KeyringStorage", "KeyringFoundation", "KeyringLibc",
        .product(
          name: "AsyncHTTPClient", package: "async-http-client",
          condition: .when(traits: ["Etcd"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Etcd"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Etcd"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Etcd"])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Etcd"])),
      ]),
    .target(
      name: "KeyringConfiguration",
      dependencies: [
        "KeyringStorage", "KeyringFoundation",
        .product(
          name: "Configuration", package: "swift-configuration",
          condition: .when(traits: ["Configuration"])),
      ]),
    .target(
      name: "KeyringMigration",
      dependencies: ["Keyring", "KeyringStorage", "KeyringFoundation", "KeyringLibc"]),
    .target(
      name: "KeyringTesting",
      dependencies: ["Keyring", "KeyringStorage", "KeyringFoundation", "KeyringLibc"]),

    .executableTarget(
      name: "SecureSettings", dependencies: ["Keyring", "KeyringFile"],
      path: "Examples/SecureSettings"),
    .executableTarget(
      name: "HeadlessService", dependencies: ["Keyring", "KeyringFile", "KeyringStorage"],
      path: "Examples/HeadlessService"),

    // Tests start several of it at once, and kill it.
    .executableTarget(
      name: "KeyringWorker",
      dependencies: ["Keyring", "KeyringEtcd", "KeyringFile", "KeyringStorage"],
      path: "Tests/Fixtures/KeyringWorker"),
    .target(
      name: "TestPrograms", dependencies: ["KeyringStorage"],
      path: "Tests/Fixtures/TestPrograms"),
    .target(
      name: "StorageModel", dependencies: ["Keyring", "KeyringStorage"],
      path: "Tests/Fixtures/StorageModel"),
    .testTarget(
      name: "KeyringCoreTests",
      dependencies: [
        "KeyringCore", "TestPrograms",
        .target(name: "CLinux", condition: .when(platforms: [.linux])),
      ]),
    .testTarget(
      name: "KeyringStorageTests",
      dependencies: [
        "Keyring", "KeyringStorage",
        .target(name: "CLinux", condition: .when(platforms: [.linux])),
      ]),
    .testTarget(
      name: "KeyringTests",
      dependencies: [
        "Keyring", "KeyringStorage", "KeyringTesting", "StorageModel", "TestPrograms",
      ]),
    .testTarget(
      name: "KeyringMigrationTests",
      dependencies: [
        "Keyring", "KeyringMigration", "KeyringStorage", "KeyringTesting",
        .target(name: "CLinux", condition: .when(platforms: [.linux])),
      ]),
    .testTarget(
      name: "KeyringFileTests",
      dependencies: [
        "Keyring", "KeyringFile", "KeyringSealing", "KeyringStorage", "KeyringTesting",
        "KeyringWorker", "StorageModel", "TestPrograms",
        .target(name: "CLinux", condition: .when(platforms: [.linux])),
        .product(
          name: "Crypto", package: "swift-crypto", condition: .when(traits: ["EncryptedFile"])),
        .product(
          name: "CryptoExtras", package: "swift-crypto",
          condition: .when(traits: ["EncryptedFile"])),
      ]),
    .testTarget(
      name: "KeyringSecretServiceTests",
      dependencies: [
        "Keyring", "KeyringFile", "KeyringMigration", "KeyringSecretService", "KeyringStorage",
        "KeyringSealing", "KeyringTesting", "KeyringWorker", "HeadlessService", "SecureSettings",
        "StorageModel", "TestPrograms",
        .target(
          name: "CLibSecret",
          condition: .when(platforms: [.linux], traits: ["SecretService"])),
      ]),
    .testTarget(
      name: "KeyringEtcdTests",
      dependencies: [
        "Keyring", "KeyringCore", "KeyringEtcd", "KeyringFoundation", "KeyringSealing",
        "KeyringStorage", "KeyringTesting", "KeyringWorker", "TestPrograms",
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Etcd"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Etcd"])),
      ]),
    .testTarget(
      name: "KeyringConfigurationTests",
      dependencies: [
        "Keyring", "KeyringConfiguration", "KeyringStorage", "KeyringTesting",
        .product(
          name: "Configuration", package: "swift-configuration",
          condition: .when(traits: ["Configuration"])),
        .product(
          name: "ConfigurationTesting", package: "swift-configuration",
          condition: .when(traits: ["Configuration"])),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ]
}
