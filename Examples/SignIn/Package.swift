// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// This is a separate package, so that swift-keyring can be built without GTK.
let package = Package(
  name: "SignIn",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "swift-keyring", path: "../..")
  ],
  targets: [
    .systemLibrary(
      name: "CGtk",
      pkgConfig: "gtk4",
      providers: [.apt(["libgtk-4-dev"]), .yum(["gtk4-devel"])]),
    // Everything except the widgets, so that tests need no screen.
    .target(
      name: "SignInModel",
      dependencies: [
        .product(name: "Keyring", package: "swift-keyring"),
        .product(name: "KeyringStorage", package: "swift-keyring"),
      ]),
    .executableTarget(
      name: "SignIn",
      dependencies: [
        "CGtk", "SignInModel",
        .product(name: "Keyring", package: "swift-keyring"),
      ],
      resources: [.embedInCode("window.ui")]),
    .testTarget(
      name: "SignInTests",
      dependencies: [
        "SignIn", "SignInModel",
        .product(name: "Keyring", package: "swift-keyring"),
        .product(name: "KeyringStorage", package: "swift-keyring"),
        .product(name: "KeyringTesting", package: "swift-keyring"),
      ],
      exclude: ["person.py"]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  ]
}
