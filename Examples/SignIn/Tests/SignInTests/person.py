#!/usr/bin/python3 -IB
# SPDX-License-Identifier: Apache-2.0
"""A person in front of a window, who sees through AT-SPI, and clicks and types with xdotool.

  person.py WINDOW

WINDOW is the title of the window. The person reads one command in each line of standard input, and answers
it with the line "done", or ends with the reason why it can't be done:

  see TEXT ...          wait until the window shows all of these texts
  miss TEXT             wait until the window doesn't show this text
  click BUTTON          wait until a button can be pressed, and click it
  type FIELD TEXT       replace the text of a field
  press KEY             press a key in the window
  read FIELD            answer with the text of a field, as a screen reader gets it
  leave                 hide this window
  return                come back to this window
  picture FILE          save a picture of the window

The names of buttons and fields are those that a screen reader says.
"""

import os
import shlex
import subprocess
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

PATIENCE = 20  # seconds


class Person:
    def __init__(self, title):
        self.title = title
        self.window = xdotool("search", "--sync", "--onlyvisible", "--name", f"^{title}$").split()[0]
        # GTK counts in units of several pixels on a screen with a high resolution.
        self.scale = int(os.environ.get("GDK_SCALE", "1"))
        self.return_()

    def widgets(self):
        """Returns the visible widgets of the window."""
        applications = children(Atspi.get_desktop(0))
        return [widget for application in applications for window in children(application)
                if window.get_name() == self.title for widget in tree(window)]

    def wait(self, wish, condition):
        """Waits until a condition about the widgets is true, and returns its value."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                if result := condition(self.widgets()):
                    return result
            except GLib.Error:
                pass  # A widget disappeared while it was read.
            if time.monotonic() > deadline:
                shown = ", ".join(f'{role(w)} "{w.get_name()}"' for w in self.widgets() if w.get_name())
                sys.exit(f"{wish} isn't possible in the window with {shown}")
            time.sleep(0.02)

    def find(self, name, *roles):
        # GTK 4.8 says the text of a button twice, once with the underscore of the mnemonic.
        return self.wait(f"to find {name}", lambda widgets: next((
            w for w in widgets if role(w) in roles and can_be_used(w)
            and (w.get_name() == name or w.get_name().endswith(" " + name))), None))

    def point_at(self, widget):
        box = widget.get_extents(Atspi.CoordType.WINDOW)
        x, y = (self.scale * (box.x + box.width // 2), self.scale * (box.y + box.height // 2))
        xdotool("mousemove", "--window", self.window, str(x), str(y), "click", "1")

    def see(self, *texts):
        self.wait(f"to see {texts}", lambda widgets: all(
            any(text in w.get_name() for w in widgets if role(w) == "label") for text in texts))

    def miss(self, text):
        self.wait(f"to miss {text}", lambda widgets: not any(
            text in w.get_name() for w in widgets if role(w) == "label"))

    def click(self, name):
        self.point_at(self.find(name, "push button", "button"))

    def type(self, name, text):
        field = self.find(name, "text", "password text")
        self.point_at(field)
        self.wait(f"to reach {name}", lambda widgets: (
            field.clear_cache() or field.get_state_set().contains(Atspi.StateType.FOCUSED)))
        xdotool("key", "ctrl+a", "key", "BackSpace", "type", "--delay", "0", text)

    def press(self, key):
        xdotool("key", key)

    def read(self, name):
        field = self.find(name, "text", "password text")
        return Atspi.Text.get_text(field, 0, field.get_character_count())

    def leave(self):
        xdotool("windowunmap", "--sync", self.window)

    def return_(self):
        xdotool("windowmap", "--sync", self.window, "windowfocus", "--sync", self.window)

    def picture(self, file):
        xdotool("mousemove", "10000", "10000")
        shown, before = self.capture(), None
        # The window may be drawn a moment after it has changed.
        while shown != before:
            shown, before = self.capture(), shown
        # Without a window manager, GTK draws a frame of 4 units around the border.
        frame = str(4 * self.scale)
        subprocess.run(
            ["convert", "png:-", "-shave", f"{frame}x{frame}", "-strip", file], check=True, input=shown)

    def capture(self):
        return subprocess.run(
            ["import", "-window", self.window, "png:-"], check=True, stdout=subprocess.PIPE).stdout


def children(widget):
    # The app changes the tree while it's read, so nothing is cached, and a child may be gone.
    widget.clear_cache()
    found = (widget.get_child_at_index(index) for index in range(widget.get_child_count()))
    return [child for child in found if child]


def tree(widget):
    return [widget] + [below for child in children(widget) for below in tree(child)]


def role(widget):
    return widget.get_role_name()


def can_be_used(widget):
    return widget.get_state_set().contains(Atspi.StateType.SENSITIVE)


def xdotool(*arguments):
    return subprocess.run(
        ["timeout", str(PATIENCE), "xdotool", *arguments], check=True, text=True, stdout=subprocess.PIPE).stdout


def main():
    person = Person(sys.argv[1])
    print("ready", flush=True)
    for line in sys.stdin:
        verb, *arguments = shlex.split(line)
        result = getattr(person, "return_" if verb == "return" else verb)(*arguments)
        print("done" if result is None else result, flush=True)


main()
