// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringPlatform

/// A reply whose header tells which cluster has sent it.
protocol HeadedReply: Sendable {
  var header: ReplyHeader? { get }

  init(json: [UInt8]) throws
}

extension HeadedReply where Self: Decodable {
  init(json: [UInt8]) throws {
    self = try EtcdClient.decoder.decode(Self.self, from: Data(json))
  }
}

extension HeadedReply where Self: JSONReadable {
  init(json: [UInt8]) throws {
    self = try JSONReader.read(json)
  }
}
#endif
