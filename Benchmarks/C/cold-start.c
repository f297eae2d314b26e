// SPDX-License-Identifier: Apache-2.0

// Reads one password as C programs do, and exits.

#include <libsecret/secret.h>

static const SecretSchema schema = {
    "org.freedesktop.Secret.Generic",
    SECRET_SCHEMA_DONT_MATCH_NAME,
    {{"service", SECRET_SCHEMA_ATTRIBUTE_STRING}, {"username", SECRET_SCHEMA_ATTRIBUTE_STRING}}};

int main(void) {
  GError *error = NULL;
  gchar *password = secret_password_lookup_sync(
      &schema, NULL, &error, "service", "swift-keyring-benchmark", "username", "account-0", NULL);
  if (!password) {
    g_printerr("cold-start: %s\n", error ? error->message : "no such password");
    return 1;
  }
  g_print("%s\n", password);
  secret_password_free(password);
  return 0;
}
