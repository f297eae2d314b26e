// SPDX-License-Identifier: Apache-2.0

#pragma once

// libsecret and GLib as an app uses them beside this package, which has declarations of its own.
#include <gio/gio.h>
#include <libsecret/secret.h>
