// SPDX-License-Identifier: Apache-2.0

struct WorkerFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
