// SPDX-License-Identifier: Apache-2.0

/// The family of systems that a simulated program runs on.
public enum Platform: Sendable {
  /// Both keychains.
  case macOS
  /// The data protection keychain only.
  case iOS
}
