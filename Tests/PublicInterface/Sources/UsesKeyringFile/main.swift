// SPDX-License-Identifier: Apache-2.0

import KeyringFile

print(EncryptedFileStorage(at: "secrets", key: .keyFile(at: "key")))
