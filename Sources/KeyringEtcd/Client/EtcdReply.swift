// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringPlatform

/// A reply of etcd.
struct EtcdReply: Sendable {
  /// The reply as JSON.
  let body: [UInt8]
  /// The time of the node's clock at its answer, as HTTP writes it, or `nil` for an answer without a date.
  var date: String?
}

extension EtcdReply {
  /// Returns the least seconds by which the node's clock is ahead of that of this machine.
  ///
  /// - Parameters:
  ///   - start: The time of this machine's clock before the request was sent.
  ///   - end: The time of this machine's clock after the reply arrived.
  /// - Returns: The seconds, negative for a clock that is behind, or 0 for clocks that may agree.
  func clockLead(from start: Date, to end: Date) -> TimeInterval {
    guard let date = date.flatMap(Date.init(http:)) else { return 0 }
    // The node wrote the date at any moment in between, and left out the fraction of a second.
    let (least, most) = (date.timeIntervalSince(end), date.timeIntervalSince(start) + 1)
    return least > 0 ? least : min(most, 0)
  }
}

extension Date {
  /// Reads a date such as "Tue, 15 Nov 1994 08:12:31 GMT" (RFC 9110, section 5.6.7).
  fileprivate init?(http text: String) {
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    let words = text.split(separator: " ")
    guard words.count == 6, let index = months.firstIndex(of: String(words[2])),
      let date = try? Date(
        "\(words[3])-\(index < 9 ? "0" : "")\(index + 1)-\(words[1])T\(words[4])Z",
        strategy: .iso8601)
    else { return nil }
    self = date
  }
}
#endif
