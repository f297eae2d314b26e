// SPDX-License-Identifier: Apache-2.0

#pragma once

// The access control list of a file is an extended attribute; Swift's modules of the C libraries leave
// the functions for those out.
#include <sys/xattr.h>

// A thread is named by a function that Swift's modules leave out, or by one with a variable number of
// arguments, which Swift doesn't import.
#include <sys/prctl.h>

static inline void swift_keyring_name_this_thread(const char *name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}
