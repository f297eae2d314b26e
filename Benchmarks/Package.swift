// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// This is a separate package, so that the benchmarks add no target and no dependency to the library.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "swift-keyring", path: "..", traits: [.defaults, "EncryptedFile", "Etcd"]),
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
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Keyring", package: "swift-keyring"),
        .product(name: "KeyringEtcd", package: "swift-keyring"),
        .product(name: "KeyringStorage", package: "swift-keyring"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // The package Counts, which has the same sources, can't use the encrypted file.
    .define("EncryptedFile"),
  ]
}
