// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The contender with only the default traits, for the gate: to compile the encrypted file's dependencies takes longer
// than everything else.
let package = Package(
  name: "Counts",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "swift-keyring", path: "../..")],
  targets: [
    .target(name: "Contending"),
    .executableTarget(
      name: "contender",
      dependencies: [
        "Contending",
        .product(name: "Keyring", package: "swift-keyring"),
        .product(name: "KeyringStorage", package: "swift-keyring"),
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
