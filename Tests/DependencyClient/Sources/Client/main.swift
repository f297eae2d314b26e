// SPDX-License-Identifier: Apache-2.0

// Only the client of Keyring is built. SwiftPM doesn't need this file to fetch dependencies.
import Keyring
