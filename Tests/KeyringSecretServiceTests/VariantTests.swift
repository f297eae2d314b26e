// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Testing

@testable import KeyringSecretService

/// Values that the package writes in GLib's own format.
struct VariantTests {
  @Test func `the first value loads the libraries`() async {
    // Nothing has loaded them in the new process.
    await #expect(processExitsWith: .success) { #expect(Variant.string("first").text == "first") }
  }

  /// The sizes at which the format needs more bytes for its numbers are among the sums of these lengths.
  @Test(arguments: [[], [0], [0, 1], Array(60...70), Array(225...256), [65_000, 400, 70_000]])
  func `GLib reads a dictionary of texts as it was written`(_ lengths: [Int]) {
    let texts = Dictionary(
      uniqueKeysWithValues: lengths.map { ("\($0)", String(repeating: "x", count: $0)) })
    let written = Variant.strings(texts)
    #expect(written.isOfType("a{ss}"))
    #expect(written.strings == texts)
  }

  @Test(arguments: Array(220...260) + Array(65_500...65_540))
  func `GLib reads a pair of any size`(_ length: Int) {
    let texts = ["name": String(repeating: "x", count: length)]
    #expect(Variant.strings(texts).strings == texts)
  }
}
#endif
