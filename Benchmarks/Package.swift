// swift-tools-version: 6.2

import PackageDescription

// This is a separate package, so that the benchmarks add no target and no dependency to the library.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "swift-keyring", path: "..", traits: [.defaults, "EncryptedFile"])
  ],
  targets: [
    .executableTarget(
      name: "contender",
      dependencies: [
        .product(name: "Keyring", package: "swift-keyring"),
        .product(name: "KeyringFile", package: "swift-keyring"),
        .product(name: "KeyringStorage", package: "swift-keyring"),
      ]),
    .executableTarget(
      name: "cold-start", dependencies: [.product(name: "Keyring", package: "swift-keyring")]),
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
