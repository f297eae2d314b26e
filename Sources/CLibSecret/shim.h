// SPDX-License-Identifier: Apache-2.0

#pragma once

#if !__has_include(<libsecret/secret.h>) || !__has_include(<gio/gio.h>)
#error "libsecret is missing. Install libsecret-1-dev and libglib2.0-dev (Debian, Ubuntu), libsecret-devel and glib2-devel (Fedora, openSUSE), or their equivalents. To build without libsecret, turn the trait SecretService off: traits: []"
#else

// The path functions (secret-paths.h) and the calls that encode and decode a secret for the bus
// are exported since 0.18, but declared only under these two names.
#define SECRET_API_SUBJECT_TO_CHANGE 1
#define SECRET_WITH_UNSTABLE 1

#include <gio/gio.h>
#include <glib-unix.h>
#include <libsecret/secret.h>

// GIO exports this function, but its header is in the directory of gio-unix-2.0.
GInputStream *g_unix_input_stream_new(gint fd, gboolean close_fd);

#endif
