// SPDX-License-Identifier: Apache-2.0

// A library for LD_PRELOAD that gives a program in Go another clock. CLOCK_OFFSET is its lead in seconds.
//
// libfaketime can't do that, because Go doesn't ask the C library for the time. Go calls the functions
// that the kernel maps into each process (the vDSO), and finds them in the auxiliary vector when the
// program starts. Before that, this library puts a copy there, whose clock is the other one.

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

static long offset;

// A thread of Go may have no thread-local variables of C, which the function "syscall" uses for errors.
static long call(long number, long first, long second) {
#if defined(__x86_64__)
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(first), "S"(second)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = first;
  register long x1 __asm__("x1") = second;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
  return x0;
#else
#error "This file has no code for the processor."
#endif
}

static int other_clock_gettime(clockid_t clock, struct timespec *time) {
  long result = call(SYS_clock_gettime, clock, (long)time);
  // The monotonic clock stays as it is.
  if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += offset;
  return (int)result;
}

static int other_gettimeofday(struct timeval *time, void *zone) {
  long result = call(SYS_gettimeofday, (long)time, (long)zone);
  if (result == 0 && time != NULL) time->tv_sec += offset;
  return (int)result;
}

// Makes a function begin with a jump to another one.
static void replace(char *function, void *replacement) {
#if defined(__x86_64__)
  // movabs $replacement, %rax; jmp *%rax
  memcpy(function, "\x48\xb8", 2);
  memcpy(function + 2, &replacement, 8);
  memcpy(function + 10, "\xff\xe0", 2);
#else
  // ldr x16, .+8; br x16
  memcpy(function, "\x50\x00\x00\x58\x00\x02\x1f\xd6", 8);
  memcpy(function + 8, &replacement, 8);
#endif
}

static const Elf64_Phdr *segments(const char *image) {
  return (const Elf64_Phdr *)(image + ((const Elf64_Ehdr *)image)->e_phoff);
}

static size_t size_of(const char *image) {
  size_t size = 0;
  for (int index = 0; index < ((const Elf64_Ehdr *)image)->e_phnum; index++) {
    const Elf64_Phdr *segment = segments(image) + index;
    if (segment->p_type == PT_LOAD) size = segment->p_offset + segment->p_memsz;
  }
  return size;
}

static void replace_functions(char *image) {
  const Elf64_Dyn *entry = NULL;
  for (int index = 0; index < ((const Elf64_Ehdr *)image)->e_phnum; index++) {
    const Elf64_Phdr *segment = segments(image) + index;
    if (segment->p_type == PT_DYNAMIC) entry = (const Elf64_Dyn *)(image + segment->p_offset);
  }
  const char *names = NULL;
  const Elf64_Sym *symbol = NULL;
  for (; entry != NULL && entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_STRTAB) names = image + entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) symbol = (const Elf64_Sym *)(image + entry->d_un.d_ptr);
  }
  // In the kernel's image, the names follow the symbols.
  for (; symbol != NULL && (const char *)symbol < names; symbol++) {
    const char *name = names + symbol->st_name;
    if (strstr(name, "clock_gettime")) replace(image + symbol->st_value, other_clock_gettime);
    if (strstr(name, "gettimeofday")) replace(image + symbol->st_value, other_gettimeofday);
  }
}

__attribute__((constructor)) static void start(int count, char **arguments, char **environment) {
  (void)count;
  (void)arguments;
  const char *text = getenv("CLOCK_OFFSET");
  if (text == NULL) return;
  offset = atol(text);
  while (*environment != NULL) environment++;
  Elf64_auxv_t *entry = (Elf64_auxv_t *)(environment + 1);
  for (; entry->a_type != AT_NULL; entry++) {
    if (entry->a_type != AT_SYSINFO_EHDR) continue;
    // The kernel may have sealed its own pages.
    const char *image = (const char *)entry->a_un.a_val;
    size_t size = size_of(image);
    char *copy = mmap(
        NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) abort();
    memcpy(copy, image, size);
    replace_functions(copy);
    __builtin___clear_cache(copy, copy + size);
    entry->a_un.a_val = (uint64_t)copy;
  }
}
