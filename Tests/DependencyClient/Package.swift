// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// `.ci/check-dependencies` builds a copy of this package, and sets this variable.
let path = Context.environment["CLIENT_DEPENDENCY"] ?? "../.."

let package = Package(
  name: "DependencyClient",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "swift-keyring", path: path)],
  targets: [
    // Most apps with a library of their own for libsecret name it like this. A name is that of one target in all packages.
    .target(name: "CLibSecret"),
    .target(name: "CLinux"),
    .executableTarget(
      name: "Client",
      dependencies: ["CLibSecret", "CLinux", .product(name: "Keyring", package: "swift-keyring")]),
  ],
  swiftLanguageModes: [.v6]
)

// An app that also needs a certain version of swift-crypto, for itself or for another package.
if let version = Context.environment["CLIENT_CRYPTO"].flatMap(Version.init) {
  package.dependencies = [
    .package(name: "swift-keyring", path: path, traits: ["EncryptedFile"]),
    .package(url: "https://github.com/apple/swift-crypto.git", exact: version),
  ]
}
