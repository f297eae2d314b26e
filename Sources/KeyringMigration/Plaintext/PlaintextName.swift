// SPDX-License-Identifier: Apache-2.0

/// The name of a value in a file, and its place.
struct PlaintextName {
  /// The path of the value, which is empty if it has no name.
  var path: [String] = []
  /// The offset at which the name or the value begins, in bytes.
  let position: Int
  /// The reason why no item can be made from the value, or `nil` if one can.
  var problem: String?
}
