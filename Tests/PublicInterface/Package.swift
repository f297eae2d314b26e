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
      traits: [.defaults, "Configuration", "EncryptedFile", "Etcd"])
  ],
  // One program for each product, so that `.ci/check-linkage` can see which libraries the product needs.
  targets: [
    "Keyring", "KeyringApple", "KeyringConfiguration", "KeyringEtcd", "KeyringFile",
    "KeyringMigration", "KeyringStorage", "KeyringTesting",
  ].map { product in
    .executableTarget(
      name: "Uses\(product)", dependencies: [.product(name: product, package: "swift-keyring")],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("ImmutableWeakCaptures"),
      ])
  },
  swiftLanguageModes: [.v6]
)
