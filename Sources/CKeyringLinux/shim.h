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

// The C libraries have no functions for the kernel's keyrings and for secret memory, Swift's modules leave out
// pipe2(2) and renameat2(2), and syscall(2) has a variable number of arguments.
#include <fcntl.h>
#include <linux/keyctl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int32_t swift_keyring_add_key(
    const char *type, const char *description, const void *payload, size_t count, int32_t keyring) {
  return (int32_t)syscall(SYS_add_key, type, description, payload, count, keyring);
}

static inline long swift_keyring_keyctl(
    int operation, unsigned long first, unsigned long second, unsigned long third, unsigned long fourth) {
  return syscall(SYS_keyctl, operation, first, second, third, fourth);
}

static inline int swift_keyring_is_main_thread(void) { return syscall(SYS_gettid) == getpid(); }

static inline int swift_keyring_pipe(int ends[2]) { return (int)syscall(SYS_pipe2, ends, O_CLOEXEC); }

static inline int swift_keyring_rename_unless_there(const char *path, const char *new_path) {
  const unsigned int no_replace = 1;
  return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, new_path, no_replace);
}

// The C libraries have no function for openat2(2). It opens nothing outside a directory, whatever links lead to.
static inline int swift_keyring_open_beneath(int directory, const char *path, int flags) {
  const struct { uint64_t flags, mode, resolve; } how = {(uint64_t)flags, 0, 0x08 /* RESOLVE_BENEATH */};
  // Linux has given new system calls the same number on all architectures since 2019.
  return (int)syscall(437, directory, path, &how, sizeof(how));
}

// Swift's modules leave out getauxval(3). The program has more rights than its caller if this isn't 0.
#include <sys/auxv.h>

static inline int swift_keyring_has_more_rights(void) { return getauxval(AT_SECURE) != 0; }

// Swift's modules leave out statfs(2). The number of a file system is 0 if it can't be found.
#include <sys/vfs.h>

static inline uint32_t swift_keyring_file_system(const char *path) {
  struct statfs status;
  return statfs(path, &status) == 0 ? (uint32_t)status.f_type : 0;
}

// Moves a mapping to the place of another one, which it replaces.
static inline int swift_keyring_move_mapping(void *mapping, size_t count, void *place) {
  const int may_move = 1, fixed = 2;
  return syscall(SYS_mremap, mapping, count, count, may_move | fixed, place) == -1 ? -1 : 0;
}

static inline int swift_keyring_memfd_secret(unsigned int flags) {
#ifdef SYS_memfd_secret
  return (int)syscall(SYS_memfd_secret, flags);
#else
  // Linux has given new system calls the same number on all architectures since 2019.
  return (int)syscall(447, flags);
#endif
}
