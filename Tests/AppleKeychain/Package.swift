// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// What only a Mac can show, beside the tests on the stand-in. It's a package of its own, so that a Mac builds nothing
// that is for Linux.
let package = Package(
  name: "AppleKeychain",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [.package(name: "swift-keyring", path: "../..")],
  targets: [
    .executableTarget(name: "first-mac", path: "Sources/FirstMac"),
    .testTarget(
      name: "AppleKeychainTests",
      dependencies: [
        .product(name: "Keyring", package: "swift-keyring"),
        .product(name: "KeyringApple", package: "swift-keyring"),
        .product(name: "KeyringStorage", package: "swift-keyring"),
        .product(name: "KeyringTesting", package: "swift-keyring"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
