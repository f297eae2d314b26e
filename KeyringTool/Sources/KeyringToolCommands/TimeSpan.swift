// SPDX-License-Identifier: Apache-2.0

/// A length of time, as named on a command line.
public struct TimeSpan: Sendable, Equatable {
  /// The length of time.
  public let duration: Duration

  /// Creates a length of time from a text.
  ///
  /// - Parameter text: A number of seconds, minutes, hours, days or weeks (`90s`, `30m`, `12h`, `90d`, `4w`). The
  ///   initializer returns `nil` for another text.
  public init?(_ text: String) {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604_800]
    guard let unit = text.last.flatMap({ units[$0] }), let number = UInt32(text.dropLast()) else {
      return nil
    }
    duration = .seconds(Int(number) * unit)
  }
}
