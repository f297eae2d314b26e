// SPDX-License-Identifier: Apache-2.0

#include "CKeyringLibSecret.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct KeyringFunctions keyring_functions;

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
  *(void **)&keyring_functions.keyring_##NAME = dlsym(libraries[LIBRARY], #NAME); \
  if (!keyring_functions.keyring_##NAME) return strdup(dlerror());
#include "functions.h"
  return NULL;
}
