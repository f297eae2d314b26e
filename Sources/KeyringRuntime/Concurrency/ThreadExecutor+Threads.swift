// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import Synchronization

extension ThreadExecutor {
  /// Starts a thread of the library's own, which gets no signals, outside Dispatch and the cooperative thread pool.
  ///
  /// - Parameters:
  ///   - name: The name of the thread, of at most 15 bytes.
  ///   - body: The closure that the thread runs.
  /// - Returns: The shortage, or `nil` for a thread that was started.
  package static func startThread(
    named name: String, _ body: @escaping @Sendable () -> Void
  ) -> Shortage? {
    var thread: pthread_t?
    let shortage = startThread(&thread, named: name, body)
    if let thread { pthread_detach(thread) }
    return shortage
  }

  /// Starts threads that exist at the same time, and waits for their end.
  ///
  /// - Parameter count: The number of threads.
  /// - Returns: The shortage, or `nil` for threads that were all started.
  static func shortage(ofThreads count: Int) -> Shortage? {
    let gate = Gate()
    var threads: [pthread_t] = []
    let shortage: Shortage? = gate.isOpen.withLock { _ in
      while threads.count < count {
        var thread: pthread_t?
        let shortage = startThread(&thread, named: "swift-keyring g") {
          gate.isOpen.withLock { _ in }
        }
        guard let thread else { return shortage }
        threads.append(thread)
      }
      return nil
    }
    for thread in threads { pthread_join(thread, nil) }
    return shortage
  }

  private final class Gate: Sendable {
    let isOpen = Mutex(())
  }

  private static func startThread(
    _ started: inout pthread_t?, named name: String, _ body: @escaping @Sendable () -> Void
  ) -> Shortage? {
    let data = Unmanaged.passRetained(ThreadBody(name: name, run: body)).toOpaque()
    var thread = Platform.newThread
    // The program's signals are for its own threads. Those of faults are for the thread that has caused them.
    var (signals, others) = (sigset_t(), sigset_t())
    sigfillset(&signals)
    for number in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] {
      sigdelset(&signals, number)
    }
    pthread_sigmask(SIG_SETMASK, &signals, &others)
    defer { pthread_sigmask(SIG_SETMASK, &others, nil) }
    let status = pthread_create(
      &thread, nil,
      { data in
        ThreadBody.run(data)
        return nil
      }, data)
    guard status == 0 else {
      Unmanaged<ThreadBody>.fromOpaque(data).release()
      return Shortage(resource: .thread, number: status)
    }
    started = thread
    return nil
  }
}

private final class ThreadBody: Sendable {
  private let name: String
  private let run: @Sendable () -> Void

  init(name: String, run: @escaping @Sendable () -> Void) { (self.name, self.run) = (name, run) }

  static func run(_ data: UnsafeMutableRawPointer?) {
    guard let data else { return }
    let body = Unmanaged<ThreadBody>.fromOpaque(data).takeRetainedValue()
    Platform.nameThread(body.name)
    body.run()
  }
}

extension Shortage {
  /// Returns what is missing for a library that needs some descriptors and threads at once, and ends the process
  /// without them.
  ///
  /// - Parameters:
  ///   - descriptors: The number of descriptors.
  ///   - threads: The number of threads.
  /// - Returns: The first thing that is missing, if any.
  package static func before(descriptors: Int, threads: Int = 0) -> Shortage? {
    #if os(Linux)
    do throws(FileFailure) {
      try OpenFile.checkDescriptors(descriptors)
    } catch {
      return Shortage(resource: .descriptor, number: error.number)
    }
    #endif
    return ThreadExecutor.shortage(ofThreads: threads)
  }

  /// Returns what is missing for Dispatch, which ends the process if it can't have its first timer.
  ///
  /// The first task of the default executor needs that, too.
  package static func beforeDispatch() -> Shortage? { before(descriptors: 6) }
}
