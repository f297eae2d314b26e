// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// The roles of a user, or a token for the password.
struct UserReply: HeadedReply {
  let header: ReplyHeader?
  let roles: [String]?
  let token: String?
}
#endif
