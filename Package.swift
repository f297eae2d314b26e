// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "swift-keyring",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Keyring", targets: ["Keyring"]),
    .library(name: "KeyringStorage", targets: ["KeyringStorage"]),
    .library(name: "KeyringTesting", targets: ["KeyringTesting"]),
    // Named so that git finds it on the PATH as the helper "keyring".
    .executable(name: "git-credential-keyring", targets: ["GitCredentialHelper"]),
  ],
  traits: [
    .trait(
      name: "SecretService",
      description: "Linux: the freedesktop Secret Service is the default storage (needs libsecret)."
    ),
    .default(enabledTraits: ["SecretService"]),
  ],
  targets: [
    .target(name: "KeyringStorage"),
    .systemLibrary(
      name: "CLibSecret",
      pkgConfig: "libsecret-1",
      providers: [.apt(["libsecret-1-dev", "libglib2.0-dev"])]),
    .target(
      name: "KeyringSecretService",
      dependencies: [
        "KeyringStorage",
        .target(
          name: "CLibSecret",
          condition: .when(platforms: [.linux], traits: ["SecretService"])),
      ]),
    .target(name: "Keyring", dependencies: ["KeyringStorage", "KeyringSecretService"]),
    .target(name: "KeyringTesting", dependencies: ["KeyringStorage", "Keyring"]),

    .executableTarget(
      name: "SecureSettings", dependencies: ["Keyring"], path: "Examples/SecureSettings"),
    .executableTarget(
      name: "GitCredentialHelper", dependencies: ["Keyring"], path: "Examples/GitCredentialHelper"),

    // Tests start several of it at once, and kill it.
    .executableTarget(
      name: "KeyringWorker", dependencies: ["Keyring"], path: "Tests/Fixtures/KeyringWorker"),
    .testTarget(name: "KeyringStorageTests", dependencies: ["KeyringStorage", "KeyringTesting"]),
    .testTarget(name: "KeyringTests", dependencies: ["Keyring", "KeyringTesting"]),
    .testTarget(
      name: "KeyringSecretServiceTests",
      dependencies: [
        "Keyring", "KeyringSecretService", "KeyringTesting", "KeyringWorker",
        .target(
          name: "CLibSecret",
          condition: .when(platforms: [.linux], traits: ["SecretService"])),
      ]),
    .testTarget(
      name: "GitCredentialHelperTests", dependencies: ["GitCredentialHelper", "Keyring"]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ]
}
