// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Does nothing, but loads what every program that speaks of a `Date` loads.
@main struct Empty {
  static func main() { withExtendedLifetime(Date.self) {} }
}
