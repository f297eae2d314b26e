// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The libraries whose protocols `Fixtures` has, as far as a recipe needs them. Your package names the libraries instead.
let fixtures = [
  "Auth", "ATProtoKit", "OAuthKit", "OAuthenticator", "HuggingFace", "Dependencies", "PostgresNIO",
]

let package = Package(
  name: "Recipes",
  platforms: [.macOS(.v15)],
  traits: [
    .trait(
      name: "Hummingbird", description: "The program HummingbirdService (needs hummingbird).")
  ],
  dependencies: [
    .package(name: "swift-keyring", path: "../.."),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.14.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
  ],
  targets: fixtures.map { .target(name: $0, path: "Fixtures/\($0)") } + [
    .target(
      name: "Recipes",
      dependencies: fixtures.map { .init(stringLiteral: $0) } + [
        .product(name: "Keyring", package: "swift-keyring"),
        .product(name: "KeyringStorage", package: "swift-keyring"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .executableTarget(
      name: "HummingbirdService",
      dependencies: [
        .product(name: "Keyring", package: "swift-keyring"),
        .product(
          name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Hummingbird"])),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .testTarget(
      name: "RecipesTests",
      dependencies: fixtures.map { .init(stringLiteral: $0) } + [
        "Recipes",
        .product(name: "Keyring", package: "swift-keyring"),
        .product(name: "KeyringStorage", package: "swift-keyring"),
        .product(name: "KeyringTesting", package: "swift-keyring"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
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
