// SPDX-License-Identifier: Apache-2.0

// What the contenders in C have in common.
//
//   CONTENDER [count] WORK [COUNT]
//
// Each line of input is a number of operations to perform. The answer is a line with the nanoseconds that each
// operation took. With "count", it's an empty line, and a mark stands before and after the operations.

#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// A work. Only `perform` is timed. If an operation doesn't do what it should, `check` ends the program with an error
// instead of a time. `finish` frees what it has read.
typedef struct {
  const char *name;
  void (*prepare)(void);
  void (*perform)(void);
  void (*check)(void);
  void (*finish)(void);
} Work;

static inline void nothing(void) {}

static inline void must(bool done, const char *error, const char *what) {
  if (done) return;
  fprintf(stderr, "contender: %s: %s\n", what, error ? error : "not as expected");
  exit(1);
}

static inline long long nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static inline long long measure(const Work *work) {
  work->prepare();
  long long start = nanoseconds();
  work->perform();
  long long end = nanoseconds();
  work->check();
  work->finish();
  return end - start;
}

static inline void perform_between_marks(const Work *work, int operations, void (*settle)(void)) {
  getppid();
  for (int i = 0; i < operations; i++) {
    work->prepare();
    work->perform();
    work->finish();
  }
  settle();
  getppid();
}

// Returns the work with a name.
static inline const Work *work_named(const char *name, const Work *works, size_t count) {
  const Work *work = works;
  while (strcmp(work->name, name) != 0) must(++work < works + count, NULL, name);
  return work;
}

// Performs the operations that the input asks for. `settle` runs before the last mark.
static inline void contend(const Work *work, bool counts, void (*settle)(void)) {
  int operations;
  while (scanf("%d", &operations) == 1) {
    if (counts)
      perform_between_marks(work, operations, settle);
    else
      for (int i = 0; i < operations; i++) printf("%s%lld", i ? " " : "", measure(work));
    printf("\n");
    fflush(stdout);
  }
}
