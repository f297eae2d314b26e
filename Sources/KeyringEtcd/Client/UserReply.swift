// SPDX-License-Identifier: Apache-2.0

#if Etcd
struct UserReply: HeadedReply, Decodable {
  let header: ReplyHeader?
  /// The names of the user's roles.
  let roles: [String]?
}
#endif
