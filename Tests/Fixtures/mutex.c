// SPDX-License-Identifier: Apache-2.0

// A replacement for the wait of a Swift Mutex that is taken, for the thread sanitizer.
//
// The Mutex of Swift 6.3 waits in libswiftSynchronization, which the sanitizer can't look into. If
// a thread has waited for a mutex, the sanitizer reports everything done under the mutex as a race.
// In a program that links this file, this function waits instead, and the sanitizer sees it.

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic uint32_t owner_t;

// Synchronization._MutexHandle._lockSlow(Swift.UInt32) -> ()
__attribute__((swiftcall)) void lock_slow(
    uint32_t thread, __attribute__((swift_context)) owner_t *owner)
    __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");

__attribute__((swiftcall)) void lock_slow(
    uint32_t thread, __attribute__((swift_context)) owner_t *owner) {
  uint32_t nobody = 0;
  while (!atomic_compare_exchange_strong_explicit(
      owner, &nobody, thread, memory_order_acquire, memory_order_relaxed)) {
    nobody = 0;
    sched_yield();
  }
}
