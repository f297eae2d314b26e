// SPDX-License-Identifier: Apache-2.0

import KeyringApple

print(AppleKeychainStorage(.fileBased))
