// SPDX-License-Identifier: Apache-2.0

import CGtk

/// An executor that runs the code of an actor in GTK's main loop.
///
/// Widgets may be used only on the thread of the main loop. Swift's main actor doesn't know this loop, so a task
/// on the main actor would never run while the loop waits for events. An actor with this executor runs between
/// two events instead. The compiler then makes sure that all code on other threads has to `await` it:
///
/// ```swift
/// actor SignInWindow {
///   nonisolated var unownedExecutor: UnownedSerialExecutor { MainContextExecutor.unowned }
/// }
/// ```
final class MainContextExecutor: SerialExecutor {
  private static let shared = MainContextExecutor()
  static var unowned: UnownedSerialExecutor { shared.asUnownedSerialExecutor() }

  /// Hands a job to the main loop, which wakes up if it sleeps.
  ///
  /// Any thread can call this method. GLib keeps the order of sources that have the same priority.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = Unmanaged.passRetained(EnqueuedJob(UnownedJob(job)))
    // Jobs wait no longer than the events of the window. The usual priority of idle sources is lower.
    g_idle_add_full(
      G_PRIORITY_DEFAULT,
      { data in
        guard let data else { return G_SOURCE_REMOVE }
        Unmanaged<EnqueuedJob>.fromOpaque(data).takeRetainedValue().job
          .runSynchronously(on: MainContextExecutor.unowned)
        return G_SOURCE_REMOVE
      }, job.toOpaque(), nil)
  }

  /// Stops the program if the caller isn't in the main loop.
  ///
  /// Swift calls this method for `assumeIsolated` in a signal handler, which no task of Swift has called.
  func checkIsolated() {
    precondition(g_main_context_is_owner(nil) != 0, "this isn't the thread of GTK's main loop")
  }
}

/// A job in the form of an object, which C can keep a pointer to.
private final class EnqueuedJob {
  let job: UnownedJob

  init(_ job: UnownedJob) { self.job = job }
}
