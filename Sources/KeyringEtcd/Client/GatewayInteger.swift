// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A number from zero on, which the gateway may write as a string.
struct GatewayInteger: Decodable, Sendable {
  let value: Int64

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try? container.decode(String.self)
    let number = try text.map { Int64($0) } ?? container.decode(Int64.self)
    // Each revision must have a next one.
    guard let number, (0 ..< .max).contains(number) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "a wrong number")
    }
    value = number
  }
}
#endif
