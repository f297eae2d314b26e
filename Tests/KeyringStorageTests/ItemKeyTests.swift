// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import Testing

@Suite struct ItemKeyTests {
  @Test func `text that only looks the same makes another key`() {
    let composed = ItemKey.password(service: "service", account: "\u{E9}")
    let decomposed = ItemKey.password(service: "service", account: "e\u{301}")
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
  }
}
