// SPDX-License-Identifier: Apache-2.0

package import Testing

/// The tags by which the scripts select tests, with the help of `Tests/Fixtures/tagged-tests`.
extension Tag {
  /// Marks tests that take seconds, because they start many keyrings or repeat one thing many times.
  ///
  /// Without options, `Scripts/test` leaves them out, and the tests with the next two tags.
  @Tag package static var slow: Self

  /// Marks tests that use one keyring for a long time, most of them from many threads or processes at once.
  ///
  /// `Scripts/stress` runs them on each provider that can bear them.
  @Tag package static var stress: Self

  /// Marks tests that kill writers or keyrings at any moment, again and again.
  ///
  /// `Scripts/stress` runs them with many more kills.
  @Tag package static var kills: Self

  /// Marks the test of the rules that every storage keeps, on the default collection of a keyring.
  ///
  /// `.ci/run` also runs it on keyrings that its first call starts.
  @Tag package static var contract: Self

  /// Marks tests that measure how much memory each use loses.
  ///
  /// `.ci/check-memory-growth` runs them with more uses.
  @Tag package static var growth: Self

  /// Marks tests of code that threads share.
  ///
  /// `.ci/sanitize` runs them with the thread sanitizer, and all tests of some modules, which need
  /// no tag.
  @Tag package static var threads: Self

  /// Marks tests that can't run with a sanitizer, or that find no more with it than other tests.
  ///
  /// `.ci/sanitize` leaves them out. A comment at the test has the reason.
  @Tag package static var unsanitized: Self
}
