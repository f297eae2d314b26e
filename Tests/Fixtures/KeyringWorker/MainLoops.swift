// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dispatch
import Foundation
import Keyring
import KeyringRuntime
import StorageModel
import Synchronization

/// Uses a property whose storage waits, twice in each way, and ends.
///
/// - Parameter place: The place of the uses: "tool", at the top of the program, or "loop", in a block after `dispatchMain`.
func useWaitingProperty(in place: String) {
  MainLoop.shortestWait.store(0, ordering: .relaxed)
  let token = Password<String?>("token", service: "service", storage: WaitingStorage())
  @Sendable func use() {
    for _ in 1...2 { _ = token.wrappedValue }
    for _ in 1...2 { token.wrappedValue = "a marker that must not be shown" }
  }
  if place == "tool" { return use() }
  DispatchQueue.main.async {
    use()
    exit(EXIT_SUCCESS)
  }
  dispatchMain()
}
#endif
