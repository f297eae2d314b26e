// SPDX-License-Identifier: Apache-2.0

// Runs libsecret as a contender, with the calls that a C programmer would write.

#include "contending.h"

#include <libsecret/secret.h>

enum { MOST = 1000 };

static const SecretSchema schema = {
    "org.freedesktop.Secret.Generic",
    SECRET_SCHEMA_DONT_MATCH_NAME,
    {{"service", SECRET_SCHEMA_ATTRIBUTE_STRING},
     {"username", SECRET_SCHEMA_ATTRIBUTE_STRING},
     {"swift-keyring-key", SECRET_SCHEMA_ATTRIBUTE_STRING}}};

static int count = 1;
static SecretService *service;
// The accounts of a work, and the attributes by which their items are found, or with which they are written
static gchar *accounts[MOST];
static GHashTable *tables[MOST];
// The one that an operation uses, if it uses one
static int current;

static const char *text(const GError *error) { return error ? error->message : NULL; }

static GHashTable *attributes_of(const char *account) {
  GHashTable *table = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
  g_hash_table_insert(table, "service", g_strdup("swift-keyring-benchmark"));
  g_hash_table_insert(table, "username", g_strdup(account));
  return table;
}

// Returns as many attributes as the library gives an item, because the time that gnome-keyring takes to
// write grows with them.
static GHashTable *attributes_to_write(const char *account) {
  GHashTable *table = attributes_of(account);
  g_hash_table_insert(table, "swift-keyring-key", g_strdup("password service username"));
  return table;
}

// Reading

static gchar *passwords[MOST];
static gchar *expected[MOST];

static gchar *look_up(int number) {
  GError *error = NULL;
  gchar *password = secret_password_lookupv_sync(&schema, tables[number], NULL, &error);
  must(error == NULL, text(error), "lookup");
  return password;
}

static void read_each(void) {
  for (int i = 0; i < count; i++) passwords[i] = look_up(i);
}

static void check_each(void) {
  for (int i = 0; i < count; i++) must(g_strcmp0(passwords[i], expected[i]) == 0, NULL, "the password");
}

static void free_each(void) {
  for (int i = 0; i < count; i++) secret_password_free(passwords[i]);
}

// Writing

static char fresh[32];

static void store(const char *secret) {
  GError *error = NULL;
  must(secret_password_storev_sync(&schema, tables[current], SECRET_COLLECTION_DEFAULT, accounts[current],
                                   secret, NULL, &error),
       text(error), "store");
}

static void prepare_write(void) {
  static int number;
  g_snprintf(fresh, sizeof fresh, "the secret %d", ++number);
}

static void write_only(void) { store(fresh); }

// The library's properties look before they change anything.
static void write_after_look(void) {
  secret_password_free(look_up(current));
  store(fresh);
}

static void check_written(void) {
  gchar *password = look_up(current);
  must(g_strcmp0(password, fresh) == 0, NULL, "the password written");
  secret_password_free(password);
}

// Changing each of many accounts in turn

static void prepare_in_turn(void) {
  static int number;
  current = number++;
  g_snprintf(fresh, sizeof fresh, "the secret %d", number);
}

static void clear(void) {
  must(secret_password_clearv_sync(&schema, tables[current], NULL, NULL), NULL, "the password to remove");
}

static void search_and_delete(void) {
  GError *error = NULL;
  GList *found = secret_service_search_sync(
      service, &schema, tables[current], SECRET_SEARCH_NONE, NULL, &error);
  must(found && !found->next, text(error), "the search before a removal");
  must(secret_item_delete_sync(found->data, NULL, &error), text(error), "the removal");
  g_list_free_full(found, g_object_unref);
}

static const Work works[] = {
    {"read", nothing, read_each, check_each, free_each},
    {"absent", nothing, read_each, check_each, free_each},
    {"write", prepare_write, write_only, check_written, nothing},
    {"look-and-write", prepare_write, write_after_look, check_written, nothing},
    {"create", prepare_in_turn, write_after_look, nothing, nothing},
    {"clear", prepare_in_turn, clear, nothing, nothing},
    {"search-and-delete", prepare_in_turn, search_and_delete, nothing, nothing},
};

static const Work *set_up(const char *name) {
  GError *error = NULL;
  const Work *work = work_named(name, works, G_N_ELEMENTS(works));
  service = secret_service_get_sync(SECRET_SERVICE_OPEN_SESSION, NULL, &error);
  must(service != NULL, text(error), "the service");
  must(count <= MOST, NULL, "room for so many items");
  for (current = 0; current < count; current++) {
    if (strcmp(name, "read") == 0) {
      accounts[current] = g_strdup_printf("account-%d", current);
      tables[current] = attributes_of(accounts[current]);
      expected[current] = g_strconcat("the secret of ", accounts[current], NULL);
    } else {
      accounts[current] = g_strdup_printf("c-%s-%d", name, current);
      tables[current] = attributes_to_write(accounts[current]);
      if (strcmp(name, "absent") != 0 && strcmp(name, "create") != 0) store("the first");
    }
  }
  current = 0;
  return work;
}

// The main loop of a program receives the signals that libsecret has subscribed to.
static void receive_signals(void) {
  while (g_main_context_iteration(NULL, FALSE)) continue;
}

int main(int argument_count, char **arguments) {
  gboolean counts = argument_count > 1 && strcmp(arguments[1], "count") == 0;
  arguments += 1 + counts;
  must(arguments[0] != NULL, NULL, "[count] WORK [COUNT]");
  if (arguments[1]) count = atoi(arguments[1]);
  const Work *work = set_up(arguments[0]);
  contend(work, counts, receive_signals);
  // Nothing stays behind that slows down the next contender.
  for (int i = 0; i < count && work->prepare != nothing; i++)
    secret_password_clearv_sync(&schema, tables[i], NULL, NULL);
  return 0;
}
