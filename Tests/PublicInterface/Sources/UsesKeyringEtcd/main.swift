// SPDX-License-Identifier: Apache-2.0

import KeyringEtcd

print(
  EtcdStorage(
    endpoints: ["https://127.0.0.1:2379"], namespace: "example", key: .keyFile(at: "key")))
