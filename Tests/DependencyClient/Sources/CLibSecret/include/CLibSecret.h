// SPDX-License-Identifier: Apache-2.0

enum { CLibSecretVersion = 1 };
