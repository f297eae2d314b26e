// SPDX-License-Identifier: Apache-2.0

// Measures the memory that libsecret's own function loses each time it reads a password.
//
//   reads COUNT
//
// Version 0.20.5 doesn't free the keyring's answer. Version 0.21.2 does.

#include <libsecret/secret.h>
#include <malloc.h>
#include <stdlib.h>

static const SecretSchema schema = {
    "org.freedesktop.Secret.Generic",
    SECRET_SCHEMA_DONT_MATCH_NAME,
    {{"service", SECRET_SCHEMA_ATTRIBUTE_STRING}, {"username", SECRET_SCHEMA_ATTRIBUTE_STRING}}};

static size_t used(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

static void read_passwords(GHashTable *attributes, long count) {
  for (long i = 0; i < count; i++) {
    GError *error = NULL;
    gchar *password = secret_password_lookupv_sync(&schema, attributes, NULL, &error);
    if (!password) g_error("the password was not read: %s", error ? error->message : "not found");
    secret_password_free(password);
  }
}

int main(int count, char **arguments) {
  long reads = count > 1 ? atol(arguments[1]) : 1000;
  GHashTable *attributes = g_hash_table_new(g_str_hash, g_str_equal);
  g_hash_table_insert(attributes, "service", "swift-keyring-reads");
  g_hash_table_insert(attributes, "username", "account");
  GError *error = NULL;
  if (!secret_password_storev_sync(
          &schema, attributes, SECRET_COLLECTION_SESSION, "reads", "s3cret", NULL, &error))
    g_error("the password was not stored: %s", error->message);
  read_passwords(attributes, 500);
  size_t before = used();
  read_passwords(attributes, reads);
  g_print("%.1f bytes for each of %ld reads\n", ((double)used() - before) / reads, reads);
  secret_password_clearv_sync(&schema, attributes, NULL, NULL);
  g_hash_table_unref(attributes);
  return 0;
}
