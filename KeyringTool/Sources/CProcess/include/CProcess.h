// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>

// Hides the memory of this process. Swift doesn't import prctl, which has a variable number of arguments.
int keyring_tool_hide_memory(void);

// Makes this process the parent of the processes that its children leave behind, so that it can wait for them.
int keyring_tool_adopt_orphans(void);

// Makes a terminal, and returns the end of this program, or -1. Swift doesn't import the constants of the requests,
// which are expressions.
int keyring_tool_make_terminal(int *other);

// Waits until a child process has stopped or ended, and leaves its state to the next call.
//
// Returns the signal that has stopped it, 0 after its end, or -1 for neither, with WNOHANG as the options. A handler of
// a signal can call this.
int keyring_tool_wait(pid_t number, int options);

// A program with streams of its own.
struct keyring_tool_program {
  char *const *arguments;
  int streams[3];
  // Both ends of its terminal, or -1, and the end of a pipe that says whether it's in the foreground of the terminal.
  int terminal, own_end, control;
  int is_in_foreground, ignores_pipes;
  // Whether the system kills it when this one ends. It has no terminal of its own then.
  int ends_with_this_one;
  // The signals that are passed on to it, as one bit for each number.
  unsigned long long passed;
};

// Starts a program, and returns the number of its process, or of one that watches it in a session of its own. If the
// program can't be started, the second argument is the number of the error.
//
// With `ends_with_this_one`, the thread that calls this must outlive the program, or the program is killed.
//
// A terminal stops only a program with a parent in the same session. A new process may call only a few functions of the
// C library until it executes a program, and Swift may call others.
int keyring_tool_start(const struct keyring_tool_program *program, int *error);
