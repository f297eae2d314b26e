// SPDX-License-Identifier: Apache-2.0

import Contending

/// An operation that a contender repeats.
protocol Work {
  /// The number of uses of the library in one operation. The time is that of one use.
  var usesPerOperation: Int { get }

  /// Prepares each operation. This isn't timed.
  mutating func prepare() async throws

  /// Performs the operation. This is timed.
  mutating func perform() async throws

  /// Throws an error if the operation didn't do what it should. The contender then ends without a time.
  mutating func check() async throws
}

extension Work {
  var usesPerOperation: Int { 1 }
  func prepare() {}
}

/// Returns the work with a name of the driver's catalog.
func work(named name: String) async throws -> any Work {
  switch name {
  case "read": Read()
  case "write": Write()
  case "write-unknown": WriteOfUnknownItem()
  case "read-many": ReadOfMany()
  case "read-cached": try await CachedRead()
  case "read-dictionary": DictionaryRead()
  case "list": ListOfAll()
  case "bare-list": try await BareList()
  case "bare-read": try await BareRead()
  case "bare-write": try await BareWrite(readsFirst: false)
  case "bare-write-unknown": try await BareWrite(readsFirst: true)
  case "bare-read-many": try await BareRead(count: Sample.many)
  default: throw Failure("there is no work \"\(name)\"")
  }
}

/// Performs a work several times.
///
/// - Returns: The nanoseconds that each operation took.
func measure(_ work: inout any Work, times: Int) async throws -> [Double] {
  var results: [Double] = []
  for _ in 0..<times {
    try await work.prepare()
    let start = nanoseconds()
    try await work.perform()
    let end = nanoseconds()
    try await work.check()
    results.append(Double(end - start) / Double(work.usesPerOperation))
  }
  return results
}
