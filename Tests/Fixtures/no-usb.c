// SPDX-License-Identifier: Apache-2.0

// Hides USB from KeePassXC, in which this library is preloaded.
//
// Each of its windows waits for USB devices on a thread of Qt's pool, which has as many threads as there are
// processors. Version 2.7.10 needs another one to unlock a database. With two processors, it waits for ever.

int libusb_init(void *context) { return -99; }

int libusb_init_context(void *context, const void *options, int count) { return -99; }
