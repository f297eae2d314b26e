// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// The settings of a storage, which all of its copies have.
struct FleetSettings: Sendable {
  let endpoints: [String]
  let namespace: String
  let tls: EtcdTLS?
  let user: EtcdUser?
  let timeout: Duration
}
#endif
