// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// This is a separate package, so that an app that depends on swift-keyring fetches nothing for it.
let package = Package(
  name: "KeyringTool",
  platforms: [.macOS(.v15)],
  // The benchmarks import files with it.
  products: [.library(name: "KeyringToolCommands", targets: ["KeyringToolCommands"])],
  traits: [
    .trait(name: "Etcd", description: "The storage of a fleet (needs async-http-client).")
  ],
  dependencies: [
    .package(
      name: "swift-keyring", path: "..",
      traits: [
        .defaults, "EncryptedFile", .trait(name: "Etcd", condition: .when(traits: ["Etcd"])),
      ]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
  ],
  targets: [
    .target(name: "CProcess"),
    .target(
      name: "KeyringToolCommands",
      dependencies: [
        .product(name: "Keyring", package: "swift-keyring"),
        .product(name: "KeyringMigration", package: "swift-keyring"),
        .product(name: "KeyringStorage", package: "swift-keyring"),
      ]),
    .executableTarget(
      name: "keyring-tool",
      dependencies: [
        "CProcess", "KeyringToolCommands",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Keyring", package: "swift-keyring"),
        .product(name: "KeyringFile", package: "swift-keyring"),
        .product(
          name: "KeyringEtcd", package: "swift-keyring", condition: .when(traits: ["Etcd"])),
        .product(name: "KeyringStorage", package: "swift-keyring"),
      ]),
    // Scripts/contract builds it. It loads the library of Swift's tests, so it isn't a part of the tool.
    .executableTarget(
      name: "keyring-contract",
      dependencies: [
        "CProcess", "KeyringToolCommands",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Keyring", package: "swift-keyring"),
        .product(name: "KeyringStorage", package: "swift-keyring"),
        .product(name: "KeyringTesting", package: "swift-keyring"),
      ]),
    .testTarget(
      name: "KeyringToolTests",
      dependencies: [
        "KeyringToolCommands", "keyring-tool", "keyring-contract",
        .product(name: "Keyring", package: "swift-keyring"),
        .product(name: "KeyringStorage", package: "swift-keyring"),
        .product(name: "KeyringTesting", package: "swift-keyring"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ]
}
