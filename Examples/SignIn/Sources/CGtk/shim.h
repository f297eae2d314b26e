// SPDX-License-Identifier: Apache-2.0

#pragma once

#if !__has_include(<gtk/gtk.h>)
#error "GTK 4 is missing. Install libgtk-4-dev (Debian, Ubuntu), gtk4-devel (Fedora, openSUSE), or their equivalents."
#else

#include <gtk/gtk.h>

// GLib declares every handler as a function without arguments, and Swift doesn't cast functions. A "swapped"
// handler gets its data first. It can ignore the other arguments, which differ from signal to signal. GLib calls
// the second function when the handler isn't needed any more, also with the data first.
static inline void signal_connect_swapped(gpointer _Nonnull object, const char *_Nonnull signal,
                                          void (*_Nonnull handler)(gpointer _Nonnull), gpointer _Nonnull data,
                                          void (*_Nullable release)(gpointer _Nonnull)) {
  g_signal_connect_data(object, signal, G_CALLBACK(handler), data, (GClosureNotify)G_CALLBACK(release),
                        G_CONNECT_SWAPPED);
}

#endif
