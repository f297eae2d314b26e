// SPDX-License-Identifier: Apache-2.0

/// The family of systems that a simulated program runs on.
public enum Platform: Sendable {
  /// Both keychains.
  case macOS
  /// The data protection keychain only.
  case iOS
  /// Mac Catalyst, or an iOS app on a Mac: macOS' functions, which always mean data protection there.
  case catalyst
}
