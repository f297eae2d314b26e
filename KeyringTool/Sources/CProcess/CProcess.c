// SPDX-License-Identifier: Apache-2.0

#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

int keyring_tool_hide_memory(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int keyring_tool_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

int keyring_tool_make_terminal(int *other) {
  int own = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  int locked = 0;
  *other = -1;
  if (own >= 0 && !ioctl(own, TIOCSPTLCK, &locked))
    *other = ioctl(own, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*other >= 0 || own < 0) return own;
  close(own);
  return -1;
}

int keyring_tool_wait(pid_t number, int options) {
  siginfo_t information = {0};
  while (waitid(P_PID, number, &information, WEXITED | WSTOPPED | WNOWAIT | options) < 0)
    if (errno != EINTR) return 0;
  if (!information.si_signo) return -1;
  return information.si_code == CLD_STOPPED ? information.si_status : 0;
}

static volatile pid_t watched;

static void pass_on(int number) {
  int error = errno;
  kill(watched, number);
  errno = error;
}

static _Noreturn void fail(int failure) {
  int error = errno;
  if (write(failure, &error, sizeof error)) {}
  _exit(127);
}

static _Noreturn void execute(
    const struct keyring_tool_program *program, const sigset_t *mask, int failure) {
  for (int stream = 0; stream < 3; stream++)
    if (program->streams[stream] != stream) dup2(program->streams[stream], stream);
  if (!program->ignores_pipes) signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, mask, NULL);
  execvp(program->arguments[0], program->arguments);
  fail(failure);
}

// Ends as the program does, and stops when it has stopped.
static _Noreturn void watch(
    const struct keyring_tool_program *program, const sigset_t *mask, int failure) {
  sigset_t none;
  struct sigaction action;
  // Otherwise, the terminal would stay open after the end of the process that has its other end.
  dup2(program->terminal, 0);
  dup2(program->control, 1);
  close(failure);
  close(program->own_end);
  syscall(SYS_close_range, 2, ~0U, 0);
  signal(SIGTTOU, SIG_IGN);
  for (int number = 1; number < 65; number++)
    if (program->passed >> number & 1 && !sigaction(number, NULL, &action) &&
        action.sa_handler != SIG_IGN)
      signal(number, pass_on);
  sigprocmask(SIG_SETMASK, mask, NULL);
  while (1) {
    int status;
    if (waitpid(watched, &status, WUNTRACED) < 0) {
      if (errno == EINTR) continue;
      _exit(127);
    }
    if (WIFSTOPPED(status)) {
      char is_in_foreground = 0;
      raise(SIGSTOP);
      while (read(1, &is_in_foreground, 1) < 0 && errno == EINTR) {}
      tcsetpgrp(0, is_in_foreground ? watched : getpid());
      kill(-watched, SIGCONT);
      continue;
    }
    // The end of this process ends the programs in the foreground.
    tcsetpgrp(0, getpid());
    if (WIFSIGNALED(status)) {
      signal(WTERMSIG(status), SIG_DFL);
      sigemptyset(&none);
      sigprocmask(SIG_SETMASK, &none, NULL);
      raise(WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
  }
}

int keyring_tool_start(const struct keyring_tool_program *program, int *error) {
  int failure[2];
  sigset_t all, mask;
  struct sigaction action;
  if (pipe(failure)) {
    *error = errno;
    return -1;
  }
  for (int end = 0; end < 2; end++) fcntl(failure[end], F_SETFD, FD_CLOEXEC);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mask);
  pid_t starter = getpid(), started = fork();
  *error = started < 0 ? errno : 0;
  if (started == 0) {
    for (int number = 1; number < 65; number++)
      if (!sigaction(number, NULL, &action) && action.sa_handler != SIG_IGN) signal(number, SIG_DFL);
    if (program->ends_with_this_one) {
      prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
      // The other process may have ended before that.
      if (getppid() != starter) _exit(127);
    }
    if (program->terminal < 0) execute(program, &mask, failure[1]);
    setsid();
    ioctl(program->terminal, TIOCSCTTY, 0);
    watched = fork();
    if (watched > 0) watch(program, &mask, failure[1]);
    if (watched < 0) fail(failure[1]);
    setpgid(0, 0);
    if (program->is_in_foreground) tcsetpgrp(program->terminal, getpid());
    execute(program, &mask, failure[1]);
  }
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  close(failure[1]);
  while (read(failure[0], error, sizeof *error) < 0 && errno == EINTR) {}
  close(failure[0]);
  return started;
}
