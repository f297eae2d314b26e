// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Dispatch
import Glibc
import Keyring
import KeyringStorage
import Synchronization

/// A use of the keyring while the process has few file descriptors, or little memory for threads.
enum StarvedUse: String {
  case read, awaitedRead, save, list, observe, pendingReads, cachedRead

  private static let storage = SecretServiceStorage(
    options: .init(
      interaction: .never, serviceTimeout: .seconds(10), allowsUnencryptedSession: true))
  private static let key = ItemKey.password(service: "service", account: "account")

  /// Uses the keyring, and throws the first error.
  func run() throws {
    let storage = Self.storage
    switch self {
    case .read: _ = try storage.password(for: Self.key)
    case .awaitedRead: try waitForTask { _ = try await storage.password(for: Self.key) }
    case .save: try storage.setPassword("s3cret", for: Self.key)
    case .list: _ = try storage.items(matching: .service("service"))
    case .observe: try storage.observe(.service("service")) { _ in }.cancel()
    case .pendingReads:
      try waitForTask {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<50 {
            let key = ItemKey.password(service: "service", account: "\(number)")
            group.addTask { _ = try await storage.password(for: key) }
          }
          for try await _ in group {}
        }
      }
    case .cachedRead:
      let cached = storage.cached(for: .seconds(60))
      for _ in 1...2 { _ = try cached.password(for: Self.key) }
    }
  }

  /// Uses the keyring while something is scarce, and once more afterwards, and tells the outcomes.
  ///
  /// - Parameters:
  ///   - uses: The uses before.
  ///   - scarcity: The scarce resource.
  ///   - count: The number of descriptors or threads that there are.
  /// - Throws: The error of a use when nothing is scarce.
  func run(after uses: [StarvedUse], _ scarcity: Scarcity, _ count: Int) throws {
    // Dispatch also ends a process if it can't have its first timer. The program's own tasks have given it one.
    let isWarm = DispatchSemaphore(value: 0)
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.001) { isWarm.signal() }
    isWarm.wait()
    try waitForTask {}
    for use in uses { try use.run() }
    let end = try scarcity.begin(count)
    let outcome = Result { try run() }
    end()
    switch outcome {
    case .success: tell("ok")
    case .failure(let error): tell("\(error)")
    }
    try run()
    tell("ok")
  }
}

/// A resource of the system of which the process has little.
enum Scarcity: String {
  case descriptors, threads

  /// Uses up the resource, and returns a closure that ends this.
  func begin(_ count: Int) throws -> () -> Void {
    switch self {
    case .descriptors: Self.useUpDescriptors(leaving: count)
    case .threads: try Self.limitMemory(toThreads: count)
    }
  }

  private static func useUpDescriptors(leaving count: Int) -> () -> Void {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = min(limit.rlim_cur, 256)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    var copies: [Int32] = []
    while true {
      let copy = dup(STDERR_FILENO)
      if copy < 0 { break }
      copies.append(copy)
    }
    for _ in 0..<count { if let copy = copies.popLast() { close(copy) } }
    return { [copies] in for copy in copies { close(copy) } }
  }

  /// Leaves room for the stacks of some threads, and for little else.
  private static func limitMemory(toThreads count: Int) throws -> () -> Void {
    // A growing heap takes 128 KiB at a time.
    let room = malloc(1 << 20)
    free(room)
    guard let file = fopen("/proc/self/statm", "r") else { throw WorkerFailure("no statm") }
    var text = [CChar](repeating: 0, count: 64)
    fgets(&text, 64, file)
    fclose(file)
    let used = strtoul(text, nil, 10) * 4096
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    let before = limit
    limit.rlim_cur = rlim_t(used) + rlim_t(count) * rlim_t(8 << 20 + 4096) + rlim_t(6 << 20)
    setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    return {
      var before = before
      setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &before)
    }
  }
}
#endif
