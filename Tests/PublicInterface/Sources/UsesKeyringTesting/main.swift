// SPDX-License-Identifier: Apache-2.0

import KeyringTesting

print(StorageContract.allCases.count)
