// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// This is a separate package, as yours is.
let package = Package(
  name: "CustomStorage",
  platforms: [.macOS(.v15)],
  products: [.library(name: "FileStorage", targets: ["FileStorage"])],
  dependencies: [
    .package(name: "swift-keyring", path: "../..")
  ],
  targets: [
    .target(
      name: "FileStorage",
      dependencies: [.product(name: "KeyringStorage", package: "swift-keyring")]),
    .testTarget(
      name: "FileStorageTests",
      dependencies: [
        "FileStorage",
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
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
  ]
}
