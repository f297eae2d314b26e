// SPDX-License-Identifier: Apache-2.0

import KeyringStorage

print(ItemKey.password(service: "service", account: "account"))
