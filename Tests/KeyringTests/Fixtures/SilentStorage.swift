// SPDX-License-Identifier: Apache-2.0

import KeyringStorage
import TestPrograms

/// An empty storage that can't be locked, and reports no changes.
struct SilentStorage: BlockingStorage, EmptyStorage {}
