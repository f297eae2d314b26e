// SPDX-License-Identifier: Apache-2.0

import Contending
import Dispatch
import Glibc
import Keyring
import KeyringStorage
import Synchronization

/// Measures the cost of many reads that wait for a stopped keyring.
///
/// It prints the number of additional threads, and the additional memory in KiB. Then it prints three times
/// in nanoseconds: the longest delay of a queue of the app and of another storage, the time from the
/// cancellation of all reads to the end of the last one, and the time from the deadline of all reads to the
/// end of the last one.
func pending(_ arguments: ArraySlice<String>) throws {
  guard let count = arguments.first.flatMap(Int.init) else { throw Failure("COUNT") }
  // When the driver reads "ready", it stops the keyring.
  let key = Sample.key(0)
  let memory = InMemoryStorage()
  try memory.setPassword("elsewhere", for: key)
  _ = try finished { try await Sample.storage().password(for: key) }
  print("ready")
  fflush(nil)
  guard readLine() == "stopped" else { throw Failure("the keyring wasn't stopped") }

  let before = try Usage()
  let reads = started(count, timeout: .seconds(300))
  settle()
  let during = try Usage()
  let delays = try (0..<50).map { _ in
    let start = ContinuousClock.now
    DispatchQueue(label: "of the app").sync {}
    _ = try finished { try await memory.password(for: key) }
    return ContinuousClock.now - start
  }
  let cancellation = ContinuousClock.now
  for read in reads { read.cancel() }
  let lastEnd = try finished {
    var last = cancellation
    for read in reads { last = max(last, await read.value) }
    return last
  }
  let timeout = Duration.seconds(3)
  let begin = ContinuousClock.now
  let late = started(count, timeout: timeout)
  let allStarted = ContinuousClock.now
  let latest = try finished {
    var last = begin
    for read in late { last = max(last, await read.value) }
    return last
  }
  print(
    during.threads - before.threads, during.kilobytes - before.kilobytes,
    nanoseconds(delays.max() ?? .zero), nanoseconds(lastEnd - cancellation),
    nanoseconds(latest - (allStarted + timeout)))
}

/// Starts reads, each of which returns the time of its end.
private func started(_ count: Int, timeout: Duration) -> [Task<ContinuousClock.Instant, Never>] {
  var options = Sample.storage().options
  options.serviceTimeout = timeout
  let storage = SecretServiceStorage(options: options)
  let begun = Begun()
  let reads = (0..<count).map { number in
    Task {
      begun.count.add(1, ordering: .relaxed)
      _ = try? await storage.password(for: Sample.key(number))
      return ContinuousClock.now
    }
  }
  while begun.count.load(ordering: .relaxed) < count { sched_yield() }
  return reads
}

/// Waits until the memory of the process stops changing.
private func settle() {
  var last = -1
  while let usage = try? Usage(), usage.kilobytes != last {
    last = usage.kilobytes
    usleep(100_000)
  }
}

private func nanoseconds(_ duration: Duration) -> Int64 {
  duration.components.seconds * 1_000_000_000 + duration.components.attoseconds / 1_000_000_000
}

private final class Begun: Sendable {
  let count = Atomic(0)
}

/// The resources that the process uses.
private struct Usage {
  let threads: Int
  let kilobytes: Int

  init() throws {
    guard let file = fopen("/proc/self/status", "r") else { throw Failure("/proc isn't available") }
    defer { fclose(file) }
    var numbers: [String: Int] = [:]
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
      let text = String(
        decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      let words = text.split(whereSeparator: \.isWhitespace)
      if words.count > 1 { numbers[String(words[0])] = Int(words[1]) }
    }
    guard let threads = numbers["Threads:"], let kilobytes = numbers["VmRSS:"] else {
      throw Failure("/proc doesn't describe the process")
    }
    (self.threads, self.kilobytes) = (threads, kilobytes)
  }
}
