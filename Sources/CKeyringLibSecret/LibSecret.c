// SPDX-License-Identifier: Apache-2.0

#include "CKeyringLibSecret.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void load_or_abort(void);

// A function that is called before the libraries are loaded loads them. A call of no address would end the program
// without a reason.
#define FUNCTION(LIBRARY, RESULT, NAME, PARAMETERS, ARGUMENTS) \
  static RESULT first_##NAME PARAMETERS { load_or_abort(); return keyring_functions.keyring_##NAME ARGUMENTS; }
#include "functions.h"

#define FUNCTION(LIBRARY, RESULT, NAME, PARAMETERS, ARGUMENTS) .keyring_##NAME = first_##NAME,
struct KeyringFunctions keyring_functions = {
#include "functions.h"
};

static const char *const names[] = {
    "libsecret-1.so.0", "libgio-2.0.so.0", "libgobject-2.0.so.0", "libglib-2.0.so.0"};
enum { LIBSECRET, GIO, GOBJECT, GLIB, COUNT };

char *keyring_load_libsecret(void) {
  void *libraries[COUNT];
  // libsecret loads the others. Without RTLD_NOW, a function that one of them lacks would end the program when it's called.
  for (int index = 0; index < COUNT; index += 1) {
    libraries[index] = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
    if (!libraries[index]) return strdup(dlerror());
  }
#define FUNCTION(LIBRARY, RESULT, NAME, PARAMETERS, ARGUMENTS) \
  void *NAME = dlsym(libraries[LIBRARY], #NAME); \
  if (!NAME) return strdup(dlerror()); \
  *(void **)&keyring_functions.keyring_##NAME = NAME;
#include "functions.h"
  return NULL;
}

static void load_or_abort(void) {
  char *reason = keyring_load_libsecret();
  if (!reason) return;
  fprintf(stderr, "libsecret can't be loaded: %s\n", reason);
  abort();
}
