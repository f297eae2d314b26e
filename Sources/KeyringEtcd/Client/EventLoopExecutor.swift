// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringStorage
internal import NIOCore
internal import NIOPosix

/// An executor that runs tasks on the thread of an event loop.
final class EventLoopExecutor: TaskExecutor {
  let eventLoop: any EventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
#endif
