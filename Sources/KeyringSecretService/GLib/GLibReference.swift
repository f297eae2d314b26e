// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CKeyringLibSecret

/// A reference to a GLib object that's released with its last Swift owner.
///
/// The class is sendable because GLib's reference counts are atomic and any thread may use the objects it
/// holds (connections, the service, variants).
final class GLibReference: @unchecked Sendable {
  let pointer: OpaquePointer
  private let kind: Kind

  private enum Kind {
    case object(madeIn: GLibReference?)
    case context
    case variant
  }

  private init(_ pointer: OpaquePointer, _ kind: Kind) {
    self.pointer = pointer
    self.kind = kind
  }

  deinit {
    switch kind {
    case .variant: g_variant_unref(pointer)
    case .context: g_main_context_unref(pointer)
    case .object(let context):
      g_object_unref(gpointer(pointer))
      guard let context, g_main_context_acquire(context.pointer) != 0 else { return }
      // Callbacks of other calls run, too. What libsecret starts in them is answered in the thread's default context.
      g_main_context_push_thread_default(context.pointer)
      while g_main_context_iteration(context.pointer, 0) != 0 {}
      g_main_context_pop_thread_default(context.pointer)
      g_main_context_release(context.pointer)
    }
  }

  /// Takes over the caller's reference to a GObject.
  ///
  /// - Parameters:
  ///   - pointer: The object.
  ///   - context: The main context in which the object leaves something to be freed, or `nil` for none.
  ///     GDBusProxy 2.74 leaves something.
  /// - Returns: The reference.
  static func object(
    adopting pointer: OpaquePointer, madeIn context: GLibReference? = nil
  ) -> GLibReference {
    GLibReference(pointer, .object(madeIn: context))
  }

  /// Adds a reference to a main context.
  static func context(_ pointer: OpaquePointer) -> GLibReference {
    GLibReference(g_main_context_ref(pointer), .context)
  }

  /// Takes over a full or floating reference to a GVariant.
  static func variant(adopting pointer: OpaquePointer) -> GLibReference {
    GLibReference(g_variant_take_ref(pointer), .variant)
  }
}
#endif
