// SPDX-License-Identifier: Apache-2.0

/// Does nothing, so that the time of Swift's own start is known.
@main struct Empty {
  static func main() {}
}
