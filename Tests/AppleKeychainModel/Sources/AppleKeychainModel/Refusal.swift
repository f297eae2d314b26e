// SPDX-License-Identifier: Apache-2.0

import CoreFoundation

/// A call's status, when it isn't success.
struct Refusal: Error {
  let status: OSStatus

  init(_ status: OSStatus) {
    self.status = status
  }
}
