// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@_exported public import CKeyringLinux

// `environ` is a variable in C, so the imports need `@preconcurrency`.
#if canImport(Glibc)
@_exported @unsafe @preconcurrency public import Glibc
#else
@_exported @unsafe @preconcurrency public import Musl
#endif

extension Platform {
  /// `true` if the program has more rights than the caller, who has chosen its environment.
  package static var hasMoreRightsThanCaller: Bool { swift_keyring_has_more_rights() != 0 }

  /// The variables of the environment, the last of which `nil` follows.
  package static var environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    unsafe environ
  }

  /// The identifier of the app's bundle, if any.
  package static var bundleIdentifier: String? { nil }

  /// A clock that always goes forward, is read quickly, and is up to 10 ms behind.
  @inlinable package static var coarseClock: clockid_t { CLOCK_MONOTONIC_COARSE }

  /// The harmless signals of this system alone.
  package static var harmlessSignals: [Int32] { [] }

  /// Overwrites memory with zeros that the optimizer keeps.
  @inlinable package static func zeroize(_ baseAddress: UnsafeMutableRawPointer, _ count: Int) {
    unsafe explicit_bzero(baseAddress, count)
  }
}

// MARK: - Files

extension Platform {
  /// The flags of open(2) for a directory on the way to a file, listable or not.
  ///
  /// The first is O_PATH, which is missing in Swift's import.
  package static var passing: Int32 { 0o1000_0000 | O_DIRECTORY | O_NOFOLLOW }

  /// The command of fcntl(2) that locks bytes for an open file (F_OFD_SETLK), which Swift's import leaves out.
  package static var lockBytes: Int32 { 37 }

  /// The command of fcntl(2) that waits to lock bytes for an open file (F_OFD_SETLKW).
  package static var waitToLockBytes: Int32 { 38 }
}

extension stat {
  /// The time of the last change of the content.
  package var modification: timespec { st_mtim }

  /// The time of the last change of the content or of the status.
  package var change: timespec { st_ctim }
}

// MARK: - Threads

extension Platform {
  /// The value of a variable before pthread_create(3) sets it.
  #if canImport(Glibc)
  package static var newThread: pthread_t { pthread_t() }
  #else
  package static var newThread: pthread_t? { nil }
  #endif

  package static var isMainThread: Bool { swift_keyring_is_main_thread() != 0 }

  /// `true` on the thread that serves the windows of the program, which runs the default main context of GLib.
  ///
  /// A program that has windows has loaded GLib. This package needs it only for the keyring.
  package static var servesWindows: Bool {
    guard let library = unsafe dlopen("libglib-2.0.so.0", RTLD_NOW | RTLD_NOLOAD) else {
      return false
    }
    defer { unsafe dlclose(library) }
    typealias IsOwner = @convention(c) (OpaquePointer?) -> Int32
    guard let isOwner = unsafe dlsym(library, "g_main_context_is_owner") else { return false }
    return unsafe unsafeBitCast(isOwner, to: IsOwner.self)(nil) != 0
  }

  /// Gives the current thread a name of at most 15 bytes.
  package static func nameThread(_ name: String) { unsafe swift_keyring_name_this_thread(name) }
}

/// A signal that ends the current wait for it, or the next one.
///
/// It's made for one waiting thread. Of several threads that wait, it wakes one.
///
/// On Linux, a semaphore of Dispatch waits until a moment of the clock with the date. A clock that is set
/// back in the meantime makes the wait that much longer.
///
/// It's safe because the mutex and the condition keep their memory until the release.
@safe package final class ThreadSignal: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var isSent = false

  package init() {
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
    unsafe pthread_mutex_init(mutex, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Waits for the signal, or for a moment in microseconds of the monotonic clock.
  package func wait(until moment: Int64?) {
    unsafe pthread_mutex_lock(mutex)
    var status: Int32 = 0
    while !isSent, status == 0 {
      if let moment {
        var end = timespec()
        end.tv_sec = Int(moment / 1_000_000)
        end.tv_nsec = Int(moment % 1_000_000) * 1_000
        status = unsafe pthread_cond_timedwait(condition, mutex, &end)
      } else {
        status = unsafe pthread_cond_wait(condition, mutex)
      }
    }
    isSent = false
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Ends the current wait, or the next one.
  package func send() {
    unsafe pthread_mutex_lock(mutex)
    isSent = true
    unsafe pthread_cond_signal(condition)
    unsafe pthread_mutex_unlock(mutex)
  }
}
#endif
