// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// A time at which a secret expires, as named on a command line.
public struct ExpiryTime: Sendable, Equatable {
  /// The time.
  public let date: Date

  /// Creates a time from a text.
  ///
  /// - Parameters:
  ///   - text: A number of minutes, hours, days or weeks from now (`30m`, `12h`, `90d`, `4w`), a day
  ///     (`2026-12-31`), which begins at midnight in UTC, or a time of RFC 3339 (`2026-12-31T23:59:59+01:00`),
  ///     whose fraction of a second is left out. The initializer returns `nil` for another text.
  ///   - now: The current time.
  public init?(_ text: String, now: Date = .now) {
    let units: [Character: Double] = ["m": 60, "h": 3600, "d": 86400, "w": 604_800]
    if let unit = text.last.flatMap({ units[$0] }), let number = UInt32(text.dropLast()) {
      date = now.addingTimeInterval(Double(number) * unit)
    } else if let time = Self.time(text) ?? Self.time(text + "T00:00:00Z") {
      date = time
    } else {
      return nil
    }
  }

  private static func time(_ text: String) -> Date? {
    let pattern =
      #/
      ([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt\x20]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]+)?
      (?:[Zz]|([+\-])([01][0-9]|2[0-3]):([0-5][0-9]))
      /#
    guard let parts = text.wholeMatch(of: pattern)?.output,
      let date = timeInUTC("\(parts.1)T\(parts.2)Z")
    else { return nil }
    let offset = (Double(parts.4 ?? "0") ?? 0) * 3600 + (Double(parts.5 ?? "0") ?? 0) * 60
    return date.addingTimeInterval(parts.3 == "-" ? offset : -offset)
  }

  private static func timeInUTC(_ text: String) -> Date? {
    // The strategy also accepts times without some of their parts, and days that don't exist.
    guard let date = try? Date(text, strategy: .iso8601), date.ISO8601Format() == text else {
      return nil
    }
    return date
  }
}
