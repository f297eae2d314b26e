// SPDX-License-Identifier: Apache-2.0

// supabase-swift 2.55.1: https://github.com/supabase/supabase-swift, Sources/Auth/Storage/AuthLocalStorage.swift

package import Foundation

package protocol AuthLocalStorage: Sendable {
  func store(key: String, value: Data) throws
  func retrieve(key: String) throws -> Data?
  func remove(key: String) throws
}
