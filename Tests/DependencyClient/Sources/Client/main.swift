// SPDX-License-Identifier: Apache-2.0

// The file is built only with the product Keyring. For another product, SwiftPM only fetches the dependencies.
import Keyring
