// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// This is a separate package, so that it sees only what swift-keyring offers to any other package.
let package = Package(
  name: "PublicInterface",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(
      name: "swift-keyring", path: "../..",
      traits: [.defaults, "Configuration", "EncryptedFile", "Etcd"]),
    // The same version and traits as in swift-keyring.
    .package(url: "https://github.com/apple/swift-configuration.git", from: "1.4.0", traits: []),
  ],
  targets: [
    .testTarget(
      name: "PublicInterfaceTests",
      dependencies: [
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "Keyring", package: "swift-keyring"),
        .product(name: "KeyringConfiguration", package: "swift-keyring"),
        .product(name: "KeyringEtcd", package: "swift-keyring"),
        .product(name: "KeyringFile", package: "swift-keyring"),
        .product(name: "KeyringMigration", package: "swift-keyring"),
        .product(name: "KeyringStorage", package: "swift-keyring"),
        .product(name: "KeyringTesting", package: "swift-keyring"),
      ])
  ],
  swiftLanguageModes: [.v6]
)

// One program for each product, so that `.ci/check-linkage` can see which libraries the product needs.
for product in [
  "Keyring", "KeyringConfiguration", "KeyringEtcd", "KeyringFile", "KeyringMigration",
  "KeyringStorage", "KeyringTesting",
] {
  package.targets.append(
    .executableTarget(
      name: "Uses\(product)", dependencies: [.product(name: product, package: "swift-keyring")]))
}

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
