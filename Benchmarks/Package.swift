// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// This is a separate package, so that the benchmarks add no target and no dependency to the library.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  traits: [
    .trait(name: "Fleet", description: "The product fleet-contender."),
    // The gate leaves out the fleet, whose dependencies take longer to compile than everything else.
    .default(enabledTraits: ["Fleet"]),
  ],
  dependencies: [
    .package(
      name: "swift-keyring", path: "..",
      traits: [
        .defaults, "EncryptedFile", .trait(name: "Etcd", condition: .when(traits: ["Fleet"])),
      ]),
    .package(path: "../KeyringTool"),
  ],
  targets: [
    .target(name: "Contending"),
    .executableTarget(
      name: "contender",
      dependencies: [
        "Contending",
        .product(name: "Keyring", package: "swift-keyring"),
        .product(name: "KeyringFile", package: "swift-keyring"),
        .product(name: "KeyringStorage", package: "swift-keyring"),
        .product(name: "KeyringToolCommands", package: "KeyringTool"),
      ]),
    .executableTarget(
      name: "fleet-contender",
      dependencies: [
        "Contending",
        .product(name: "Keyring", package: "swift-keyring"),
        .product(
          name: "KeyringEtcd", package: "swift-keyring", condition: .when(traits: ["Fleet"])),
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
