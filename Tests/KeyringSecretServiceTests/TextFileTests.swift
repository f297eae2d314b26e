// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

/// A collection without a password, which gnome-keyring keeps in a text file.
@Suite(.inPrivateSession, .only(on: .gnomeKeyring, "is about the files of gnome-keyring"))
struct TextFileTests {
  @Test func `an encoded value is read back from a text file`() throws {
    let collection = try PasswordCollection(password: "")
    let storage = SecretServiceStorage(collection: .named(collection.label), interaction: .never)
    let outcome = Result {
      let service = storage.service(PrivateSession.newService())
      let value = [
        "line\nline\r\n", "\ttab\t", "back\\slash\\n", "\"quoted\"", "https://example.org/", " ",
        "\u{8}\u{C}\u{1}\u{7F}\u{2028}", "\\", "\\u000a", "",
      ]
      try service.value("value").write(value)
      // The second file is written with the content that was read from the first one.
      for number in 1...2 {
        try storage.lock()
        try collection.unlock()
        #expect(try service.value("value", as: [String].self).read() == value)
        try service.password("another").write("\(number)")
      }
    }
    try collection.delete()
    try outcome.get()
  }
}
#endif
