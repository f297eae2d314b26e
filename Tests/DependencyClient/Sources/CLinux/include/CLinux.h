// SPDX-License-Identifier: Apache-2.0

enum { CLinuxVersion = 1 };
