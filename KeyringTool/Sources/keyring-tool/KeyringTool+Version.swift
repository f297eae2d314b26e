// SPDX-License-Identifier: Apache-2.0

extension KeyringTool {
  /// The version of the package.
  ///
  /// `.ci/check-version --update` sets it to the newest one in `CHANGELOG.md`.
  static let version = "0.1.0"
}
