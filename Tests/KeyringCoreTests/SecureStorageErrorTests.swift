// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import KeyringCore
import TestPrograms
import Testing

@Suite struct SecureStorageErrorTests {
  @Test func `the description names the cause and the next step`() {
    let error = SecureStorageError(
      .locked, operation: .read, backendName: "InMemoryStorage",
      underlying: .init(domain: "domain", code: 7, text: "what it said"))
    #expect(
      error.description == """
        InMemoryStorage: read failed (locked). The keyring is locked. Unlock it in your keyring \
        manager or by logging in, or allow this program to show prompts. [domain 7: what it said]
        """)
  }

  @Test func `an error has a localized description and a suggestion`() {
    let error: any LocalizedError = SecureStorageError(
      .noProvider, operation: .save, backendName: "SecretServiceStorage",
      underlying: .init(domain: "domain", code: 7, text: "what it said"))
    #expect(error.recoverySuggestion?.contains("Install gnome-keyring") == true)
    #expect(error.failureReason == "what it said")
    // Many programs print nothing else, for example those with swift-argument-parser.
    #expect(
      error.errorDescription == """
        No program on the session bus provides a keyring. Install gnome-keyring, which starts when it's needed, or \
        start KWallet or KeePassXC. [domain 7: what it said]
        """)
  }

  @Test func `no code suggests to repeat what fails again`() {
    for code: SecureStorageError.Code in [
      .itemNotFound, .locked, .noSessionBus, .noProvider, .providerFailed, .accessDenied,
      .connectionLost, .invalidArgument, .undecodable, .wrongKey, .damaged, .other,
      .init(rawValue: "new"),
    ] {
      let error = SecureStorageError(code, operation: .read, backendName: "test")
      #expect(error.recoverySuggestion?.contains("ry again") == false, "\(error)")
    }
    let late = SecureStorageError(.timedOut, operation: .read, backendName: "test")
    #expect(late.recoverySuggestion == "Try again. If it fails again, restart the keyring.")
  }

  @Test func `a catch clause can name a code`() {
    func outcome(of error: any Error) -> String {
      do {
        throw error
      } catch .locked {
        return "locked"
      } catch SecureStorageError.Code.timedOut {
        return "timed out"
      } catch {
        return "another"
      }
    }
    func error(_ code: SecureStorageError.Code) -> SecureStorageError {
      SecureStorageError(code, operation: .read, backendName: "test")
    }
    #expect(outcome(of: error(.locked)) == "locked")
    #expect(outcome(of: error(.timedOut)) == "timed out")
    #expect(outcome(of: error(.damaged)) == "another")
    #expect(outcome(of: CancellationError()) == "another")
    do throws(SecureStorageError) {
      throw error(.locked)
    } catch .locked {
    } catch {
      Issue.record("the clause doesn't name the code of \(error)")
    }
  }

  /// Other programs choose labels, and a storage names them in its errors.
  @Test func `every text is one line that leaves the terminal alone`() {
    let text = "a\u{1B}]0;b\u{7}\r\nc\u{9B}2J\u{2028}d\u{202E}\u{E9}"
    let (shown, domain) = ("a ]0;b   c 2J d \u{E9}", "\u{1B}[2Jdomain")
    var error = SecureStorageError(
      .ambiguous, operation: .read, backendName: text, message: text, recoverySuggestion: text,
      underlying: .init(domain: domain, code: 7, text: text))
    for _ in 1...2 {
      #expect(
        [error.backendName, error.message, error.recoverySuggestion] == [shown, shown, shown])
      #expect(error.underlying == .init(domain: " [2Jdomain", code: 7, text: shown))
      #expect(
        error.description
          == "\(shown): read failed (ambiguous). \(shown) \(shown) [ [2Jdomain 7: \(shown)]")
      // The same applies when a text is changed afterwards.
      (error.backendName, error.message, error.recoverySuggestion) = (text, text, text)
      error.underlying?.domain = domain
      error.underlying?.text = text
    }
  }

  @Test(arguments: ["a", "é", "\u{1F469}\u{200D}\u{1F4BB}", "e\u{301}", "\u{1B}"])
  func `another program's text is at most 500 bytes, and ends with a whole character`(
    character: String
  ) {
    let text = "x" + String(repeating: character, count: 1000)
    var underlying = SecureStorageError.Underlying(domain: text, code: 1, text: text)
    for _ in 1...2 {
      for text in [underlying.text, underlying.domain, text.excerpt] {
        #expect((480...500).contains(text.utf8.count) && text.hasSuffix("…"))
        let shown = character == "\u{1B}" ? " " : character
        #expect(text.dropFirst().dropLast().allSatisfy { "\($0)" == shown })
      }
      (underlying.domain, underlying.text) = (text, text)
    }
    // No cut leaves a whole character of any length.
    let endless = "x" + String(repeating: "\u{301}", count: 1000)
    #expect(endless.excerpt.utf8.count <= 500)
    #expect(String(repeating: "x", count: 500).excerpt.utf8.count == 500)
  }

  @Test(arguments: SecureStorageError.Code.known)
  func `every code has its own message and advice`(code: SecureStorageError.Code) {
    let error = SecureStorageError(code, operation: .read, backendName: "test")
    let unknown = SecureStorageError(.init(rawValue: "new"), operation: .read, backendName: "test")
    #expect(error.message.hasSuffix("."))
    #expect(error.recoverySuggestion?.hasSuffix(".") == true)
    #expect(code == .other || error.message != unknown.message)
    #expect(code == .other || error.recoverySuggestion != unknown.recoverySuggestion)
  }
}
