// SPDX-License-Identifier: Apache-2.0

import CGtk

/// A widget that `window.ui` declares.
///
/// GTK's functions take pointers to different types. In C, macros such as `GTK_LABEL` convert them.
struct Widget {
  private let object: OpaquePointer

  /// Finds a widget by its name.
  init(_ name: String, in builder: OpaquePointer) {
    guard let object = gtk_builder_get_object(builder, name) else {
      fatalError("window.ui has no object named \(name)")
    }
    self.object = OpaquePointer(object)
  }

  var pointer: UnsafeMutablePointer<GtkWidget> { UnsafeMutablePointer(object) }

  /// The text of an entry.
  var text: String {
    get { String(cString: gtk_editable_get_text(object)) }
    nonmutating set { gtk_editable_set_text(object, newValue) }
  }

  var isVisible: Bool {
    get { gtk_widget_get_visible(pointer) != 0 }
    nonmutating set { gtk_widget_set_visible(pointer, newValue ? 1 : 0) }
  }

  var isSensitive: Bool {
    get { gtk_widget_get_sensitive(pointer) != 0 }
    nonmutating set { gtk_widget_set_sensitive(pointer, newValue ? 1 : 0) }
  }

  /// Sets the text of a label.
  func setLabel(_ text: String) { gtk_label_set_text(object, text) }

  /// Sets the icon of an image.
  func setIcon(_ name: String) { gtk_image_set_from_icon_name(object, name) }

  /// Calls a closure with the actor of the widget each time the widget emits a signal.
  func on<Owner: Actor>(
    _ signal: String, tell owner: Owner, _ action: @escaping (isolated Owner) -> Void
  ) {
    let handler = SignalHandler { owner.assumeIsolated(action) }
    signal_connect_swapped(
      UnsafeMutableRawPointer(object), signal,
      { data in Unmanaged<SignalHandler>.fromOpaque(data).takeUnretainedValue().action() },
      Unmanaged.passRetained(handler).toOpaque(),
      { data in Unmanaged<SignalHandler>.fromOpaque(data).release() })
  }
}

/// A closure in the form of an object, which C can keep a pointer to.
private final class SignalHandler {
  let action: () -> Void

  init(_ action: @escaping () -> Void) { self.action = action }
}
