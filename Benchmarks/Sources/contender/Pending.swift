import Dispatch
import Glibc
import Keyring
import Synchronization

/// What so many reads cost that wait for a keyring that has stopped.
///
/// It writes the number of threads and of KiB that the process has more than before, and in nanoseconds the
/// longest time that a queue of the app and another storage were delayed, that a read has lasted after it was
/// cancelled, and that one has lasted beyond its deadline.
func pending(_ arguments: ArraySlice<String>) throws {
  guard let count = arguments.first.flatMap(Int.init) else { throw Failure("COUNT") }
  // The keyring stops when it is told so.
  let key = Sample.key(0)
  let memory = InMemoryStorage()
  try memory.setPassword("elsewhere", for: key)
  _ = try finished { try await Sample.storage().password(for: key) }
  print("ready")
  fflush(nil)
  guard readLine() == "stopped" else { throw Failure("the keyring was not stopped") }

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

/// Starts reads, each of which tells when it has ended.
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

/// Waits until the process takes no more memory than a moment before.
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

/// What the process takes of the machine.
private struct Usage {
  let threads: Int
  let kilobytes: Int

  init() throws {
    guard let file = fopen("/proc/self/status", "r") else { throw Failure("no /proc") }
    defer { fclose(file) }
    var numbers: [String: Int] = [:]
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
      let words = String(cString: line).split(whereSeparator: \.isWhitespace)
      if words.count > 1 { numbers[String(words[0])] = Int(words[1]) }
    }
    guard let threads = numbers["Threads:"], let kilobytes = numbers["VmRSS:"] else {
      throw Failure("/proc says nothing of the process")
    }
    (self.threads, self.kilobytes) = (threads, kilobytes)
  }
}
