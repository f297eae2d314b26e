// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The program has only the default traits, as most apps have. A trait that isn't used makes the program larger, and
// therefore slower to start.
let package = Package(
  name: "ColdStart",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "swift-keyring", path: "../..")],
  targets: [
    .executableTarget(
      name: "cold-start", dependencies: [.product(name: "Keyring", package: "swift-keyring")]),
    .executableTarget(name: "empty"),
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
