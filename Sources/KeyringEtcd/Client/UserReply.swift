// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// The roles of a user, or a token for the password.
struct UserReply: HeadedReply {
  private(set) var header: ReplyHeader?
  private(set) var roles: [String] = []
  private(set) var token: String?

  init(_ reader: inout JSONReader) throws(JSONReader.Malformed) {
    try reader.object { (name, reader) throws(JSONReader.Malformed) in
      switch name {
      case "header": header = try ReplyHeader(&reader)
      case "roles": roles = try reader.array()
      case "token": token = try reader.text()
      default: break
      }
    }
  }
}
#endif
