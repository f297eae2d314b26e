#pragma once

// The access control list of a file is an extended attribute; Swift's modules of the C libraries leave
// the functions for those out.
#include <sys/xattr.h>
