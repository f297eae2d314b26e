// SPDX-License-Identifier: Apache-2.0

import KeyringStorage

print(
  SecureItem(
    key: .password(service: "service", account: "account"), secret: Secret("s3cret")))
