// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import KeyringLibc

/// An event source whose only event is being woken.
final class Wakening: EventSource {
  private let signal = Signal()

  func enter() {}

  func wait(until moment: Int64?) { signal.wait(until: moment) }

  func wake() { signal.send() }

  func leave() {}
}

#if os(Linux)
/// A signal that ends the current wait for it, or the next one.
///
/// It's made for one waiting thread. If several threads wait, it ends the wait of one of them.
///
/// On Linux, a semaphore of Dispatch waits until a moment of the clock with the date. If that clock is set back
/// in the meantime, the wait takes that much longer.
private final class Signal: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var isSent = false

  init() {
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func wait(until moment: Int64?) {
    pthread_mutex_lock(mutex)
    var status: Int32 = 0
    while !isSent, status == 0 {
      if let moment {
        var end = timespec()
        end.tv_sec = Int(moment / 1_000_000)
        end.tv_nsec = Int(moment % 1_000_000) * 1_000
        status = pthread_cond_timedwait(condition, mutex, &end)
      } else {
        status = pthread_cond_wait(condition, mutex)
      }
    }
    isSent = false
    pthread_mutex_unlock(mutex)
  }

  func send() {
    pthread_mutex_lock(mutex)
    isSent = true
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }
}
#else
/// A signal that ends the current wait for it, or the next one.
private final class Signal: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func wait(until moment: Int64?) {
    let end = moment.map { DispatchTime(uptimeNanoseconds: UInt64(max(0, $0)) * 1000) }
    _ = semaphore.wait(timeout: end ?? .distantFuture)
  }

  func send() { semaphore.signal() }
}
#endif
