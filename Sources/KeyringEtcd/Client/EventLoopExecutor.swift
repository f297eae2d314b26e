// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import NIOCore
internal import NIOPosix

/// An executor that runs tasks on the thread of an event loop.
final class EventLoopExecutor: TaskExecutor {
  /// The thread of all replies that end, on which no code of an app runs.
  ///
  /// With several threads, a request and its connection would often have different ones.
  static let requests = EventLoopExecutor()

  /// The thread of the replies that don't end, which also runs what takes their lines.
  ///
  /// Requests don't wait for an observer or for the source of a key.
  static let streaming = EventLoopExecutor()

  let eventLoop: any EventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
#endif
