// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// This is a separate package, so that the benchmarks add no target and no dependency to the library.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  traits: [
    // The gate leaves out both, whose dependencies take longer to compile than everything else.
    .trait(name: "Files", description: "The operations on files, which are encrypted or imported."),
    .trait(name: "Fleet", description: "The product fleet-contender."),
    .default(enabledTraits: ["Files", "Fleet"]),
  ],
  dependencies: [
    .package(
      name: "swift-keyring", path: "..",
      traits: [
        .defaults, .trait(name: "EncryptedFile", condition: .when(traits: ["Files"])),
        .trait(name: "Etcd", condition: .when(traits: ["Fleet"])),
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
        .product(
          name: "KeyringFile", package: "swift-keyring", condition: .when(traits: ["Files"])),
        .product(name: "KeyringStorage", package: "swift-keyring"),
        .product(
          name: "KeyringToolCommands", package: "KeyringTool", condition: .when(traits: ["Files"])),
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
