// SPDX-License-Identifier: Apache-2.0

// What the contenders in C share:
//
//   PROGRAM [count] WORK [COUNT]
//
// Each line of input is a number of operations to perform. The answer is a line with the nanoseconds that each
// operation took. With "count", it's an empty line, and a mark stands before and after the operations.

#pragma once

#include <libsecret/secret.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SERVICE "swift-keyring-benchmark"

enum { READS_PER_THREAD = 25, MOST = 10000 };

// A work, whose `prepare` and `check` aren't timed. If an operation doesn't do what it should, the
// program ends with an error instead of a time.
typedef struct {
  const char *name;
  void (*prepare)(void);
  void (*perform)(void);
  void (*check)(void);
  // The number of uses of libsecret in one operation, or 0 for COUNT times READS_PER_THREAD. The time
  // is that of one use.
  int uses;
} Work;

static int count = 1;

static void nothing(void) {}

static void must(gboolean done, GError *error, const char *what) {
  if (done) return;
  g_printerr("contender: %s: %s\n", what, error ? error->message : "not as expected");
  exit(1);
}

static const Work *work_named(const Work *works, size_t number, const char *name) {
  for (size_t i = 0; i < number; i++)
    if (strcmp(works[i].name, name) == 0) return &works[i];
  must(FALSE, NULL, name);
  return NULL;
}

static gint64 nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * G_GINT64_CONSTANT(1000000000) + time.tv_nsec;
}

static double measure(const Work *work) {
  work->prepare();
  gint64 start = nanoseconds();
  work->perform();
  gint64 end = nanoseconds();
  work->check();
  return (double)(end - start) / (work->uses ? work->uses : count * READS_PER_THREAD);
}

static void perform_between_marks(const Work *work, int operations) {
  getppid();
  for (int i = 0; i < operations; i++) {
    work->prepare();
    work->perform();
    work->check();
  }
  // The main loop of a program receives the signals that libsecret has subscribed to.
  while (g_main_context_iteration(NULL, FALSE)) continue;
  getppid();
}

static int contend(const Work *works, size_t number, void (*set_up)(const Work *), int argument_count,
                   char **arguments) {
  gboolean counts = argument_count > 1 && strcmp(arguments[1], "count") == 0;
  if (counts) {
    arguments++;
    argument_count--;
  }
  must(argument_count > 1, NULL, "[count] WORK [COUNT]");
  const Work *work = work_named(works, number, arguments[1]);
  if (argument_count > 2) count = atoi(arguments[2]);
  set_up(work);
  int operations;
  while (scanf("%d", &operations) == 1) {
    if (counts)
      perform_between_marks(work, operations);
    else
      for (int i = 0; i < operations; i++) g_print("%s%.0f", i ? " " : "", measure(work));
    g_print("\n");
    fflush(stdout);
  }
  return 0;
}
