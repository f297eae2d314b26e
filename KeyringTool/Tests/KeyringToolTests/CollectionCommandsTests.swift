// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringToolCommands
import Testing

@Suite struct CollectionCommandsTests {
  private let storage = InMemoryStorage()

  @Test func `the commands list, create and delete collections`() throws {
    let commands = CollectionCommands(storage)
    try commands.create("work")
    try storage.collection(labeled: "work").lock()
    #expect(try commands.list() == ["unlocked  default  (default)", "locked    work"])
    try commands.delete("work")
    #expect(try commands.list().count == 1)
    #expect(throws: ToolFailure.self) { try commands.delete("work") }
  }
}
