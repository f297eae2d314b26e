// SPDX-License-Identifier: Apache-2.0

#pragma once

// The function has a variable number of arguments, so Swift doesn't import it.
#include <sys/prctl.h>

static inline int keyring_tool_hide_memory(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
