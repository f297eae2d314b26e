// SPDX-License-Identifier: Apache-2.0

/// An entry that shows a stored value, and never overwrites what the user has typed.
///
/// It's a class, because GTK calls the handlers of a change while the text is being set. Swift stops a program
/// that reads a struct while one of its methods changes it.
final class BoundEntry {
  private let widget: Widget
  private var stored = ""

  init(_ widget: Widget) { self.widget = widget }

  var text: String { widget.text }

  /// Whether the user has changed the stored value.
  var isEdited: Bool { widget.text != stored }

  /// Shows a new stored value, unless the user has changed the old one.
  func show(_ value: String) {
    guard value != stored else { return }
    let keepsText = isEdited
    stored = value
    if !keepsText { widget.text = value }
  }
}
