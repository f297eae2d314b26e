// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
  name: "AppleKeychainModel",
  targets: [
    .systemLibrary(name: "Security"),
    .target(name: "AppleKeychainModel", dependencies: ["Security"]),
    .testTarget(name: "AppleKeychainModelTests", dependencies: ["AppleKeychainModel", "Security"]),
  ],
  swiftLanguageModes: [.v6]
)
