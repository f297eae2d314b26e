// SPDX-License-Identifier: Apache-2.0

// PostgreSQL's library. pkg-config knows its directory.
#include <libpq-fe.h>
