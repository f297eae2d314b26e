// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A number that the gateway writes as a string, and leaves out if it's zero.
struct GatewayInteger: Decodable, Sendable {
  let value: Int64

  init(_ value: Int64) { self.value = value }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let found: Int64?
    if let text = try? container.decode(String.self) {
      found = Int64(text)
    } else {
      found = try container.decode(Int64.self)
    }
    // etcd sends no negative numbers, and each revision must have a next one.
    guard let number = found, (0..<Int64.max).contains(number) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a number")
    }
    value = number
  }
}
#endif
