// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// A time at which a secret expires, as named on a command line.
public struct ExpiryTime: Sendable, Equatable {
  /// The time.
  public let date: Date
  /// The length of time that was named, or `nil` for a time that doesn't depend on now.
  private let lifetime: Duration?

  /// Creates a time from a text.
  ///
  /// - Parameters:
  ///   - text: A ``TimeSpan`` from now, a day (`2026-12-31`), which begins at midnight in UTC, or a time of RFC 3339
  ///     (`2026-12-31T23:59:59+01:00`), whose fraction of a second is left out. The initializer returns `nil` for
  ///     another text.
  ///   - now: The current time.
  public init?(_ text: String, now: Date = .now) {
    lifetime = TimeSpan(text)?.duration
    guard
      let time = lifetime.map({ now + $0 / .seconds(1) }) ?? Self.time(text)
        ?? Self.time(text + "T00:00:00Z")
    else { return nil }
    date = time
  }

  /// Returns the time for a secret that is as old as a date.
  func date(from start: Date) -> Date { lifetime.map { start + $0 / .seconds(1) } ?? date }

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
