// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let fleet = TargetDependencyCondition.when(traits: ["Fleet"])

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
    // The fleet's bare requests use the same HTTP client as the library.
    .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.100.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
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
      ]),
    .executableTarget(
      name: "fleet-contender",
      dependencies: [
        "Contending",
        .product(name: "AsyncHTTPClient", package: "async-http-client", condition: fleet),
        .product(name: "Keyring", package: "swift-keyring"),
        .product(name: "KeyringEtcd", package: "swift-keyring", condition: fleet),
        .product(name: "KeyringStorage", package: "swift-keyring"),
        .product(name: "NIOCore", package: "swift-nio", condition: fleet),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: fleet),
        .product(name: "NIOPosix", package: "swift-nio", condition: fleet),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: fleet),
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
