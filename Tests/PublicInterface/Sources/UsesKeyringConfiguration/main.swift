// SPDX-License-Identifier: Apache-2.0

import KeyringConfiguration

print(SecureStorageProvider.self)
