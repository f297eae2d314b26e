// SPDX-License-Identifier: Apache-2.0

// Runs libsecret as a contender, with the calls that a C programmer would write. The head of contending.h
// describes its arguments.

#include "contending.h"

static const SecretSchema schema = {
    "org.freedesktop.Secret.Generic",
    SECRET_SCHEMA_DONT_MATCH_NAME,
    {{"service", SECRET_SCHEMA_ATTRIBUTE_STRING},
     {"username", SECRET_SCHEMA_ATTRIBUTE_STRING},
     {"swift-keyring-key", SECRET_SCHEMA_ATTRIBUTE_STRING}}};

static SecretService *service;
static GHashTable *attributes;

static GHashTable *attributes_of(const char *account) {
  GHashTable *table = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
  g_hash_table_insert(table, "service", g_strdup(SERVICE));
  if (account) g_hash_table_insert(table, "username", g_strdup(account));
  return table;
}

static GHashTable *attributes_of_number(int number) {
  g_autofree gchar *account = g_strdup_printf("account-%d", number);
  return attributes_of(account);
}

// Returns as many attributes as the library gives an item, because the time that gnome-keyring takes to
// write grows with them.
static GHashTable *attributes_to_write(const char *account) {
  GHashTable *table = attributes_of(account);
  g_hash_table_insert(table, "swift-keyring-key", g_strdup("password service username"));
  return table;
}

// One password

static gchar *password;
static SecretValue *value;

static void read_with_password(void) {
  GError *error = NULL;
  password = secret_password_lookupv_sync(&schema, attributes, NULL, &error);
  must(password != NULL, error, "lookup");
}

static void check_password(void) {
  must(strcmp(password, "the secret of account-0") == 0, NULL, "the password");
  secret_password_free(password);
}

static void read_with_service(void) {
  GError *error = NULL;
  value = secret_service_lookup_sync(service, &schema, attributes, NULL, &error);
  must(value != NULL, error, "lookup");
}

static void check_value(void) {
  must(strcmp(secret_value_get_text(value), "the secret of account-0") == 0, NULL, "the password");
  secret_value_unref(value);
}

// Writing and removing an existing item

static const char *own_account;
static char fresh[32];
static gchar *accounts_in_turn[MOST];
static GHashTable *attributes_in_turn[MOST];

static void store(const char *secret) {
  GError *error = NULL;
  must(secret_password_storev_sync(
           &schema, attributes, SECRET_COLLECTION_DEFAULT, own_account, secret, NULL, &error),
       error, "store");
}

static void prepare_write(void) {
  static int number;
  if (number == 0 && !strstr(own_account, "create")) store("the first");
  g_snprintf(fresh, sizeof fresh, "the secret %d", ++number);
}

static void write_with_password(void) { store(fresh); }

static void write_with_service(void) {
  GError *error = NULL;
  SecretValue *secret = secret_value_new(fresh, -1, "text/plain");
  must(secret_service_store_sync(service, &schema, attributes, SECRET_COLLECTION_DEFAULT,
                                 own_account, secret, NULL, &error),
       error, "store");
  secret_value_unref(secret);
}

static void check_written(void) {
  read_with_password();
  must(strcmp(password, fresh) == 0, NULL, "the password written");
  secret_password_free(password);
}

static void prepare_creation(void) {
  secret_password_clearv_sync(&schema, attributes, NULL, NULL);
  prepare_write();
}

static void read_absent_with_password(void) {
  GError *error = NULL;
  password = secret_password_lookupv_sync(&schema, attributes, NULL, &error);
  must(error == NULL, error, "lookup");
}

static void read_absent_with_service(void) {
  GError *error = NULL;
  value = secret_service_lookup_sync(service, &schema, attributes, NULL, &error);
  must(error == NULL, error, "lookup");
}

static void check_absent(void) { must(password == NULL && value == NULL, NULL, "no password"); }

// Prepares to write each of many passwords in turn.
static void prepare_write_in_turn(void) {
  static gchar **accounts;
  static int number;
  if (!accounts) {
    accounts = g_new0(gchar *, count);
    for (int i = 0; i < count; i++) {
      accounts[i] = g_strdup_printf("%s-%d", "c-in-turn", i);
      own_account = accounts[i];
      attributes = attributes_to_write(own_account);
      store("the first");
      g_hash_table_unref(attributes);
    }
  } else {
    g_hash_table_unref(attributes);
  }
  own_account = accounts[number % count];
  attributes = attributes_to_write(own_account);
  g_snprintf(fresh, sizeof fresh, "the secret %d", ++number);
}

static gboolean was_there;

static void prepare_removal(void) { store("to be removed"); }

static void remove_with_password(void) {
  was_there = secret_password_clearv_sync(&schema, attributes, NULL, NULL);
}

static void remove_with_service(void) {
  was_there = secret_service_clear_sync(service, &schema, attributes, NULL, NULL);
}

static void check_removed(void) {
  must(was_there, NULL, "the password to remove");
  password = secret_password_lookupv_sync(&schema, attributes, NULL, NULL);
  must(password == NULL, NULL, "the removal");
}

// Many items

static GHashTable *tables[MOST];
static gchar *passwords[MOST];
static GList *items;

static void read_one_by_one(void) {
  GError *error = NULL;
  for (int i = 0; i < count; i++) {
    passwords[i] = secret_password_lookupv_sync(&schema, tables[i], NULL, &error);
    must(passwords[i] != NULL, error, "lookup");
  }
}

static void check_secret(int number, const char *secret) {
  g_autofree gchar *expected = g_strdup_printf("the secret of account-%d", number);
  must(strcmp(secret, expected) == 0, NULL, "the password");
}

static void check_one_by_one(void) {
  for (int i = 0; i < count; i++) {
    check_secret(i, passwords[i]);
    secret_password_free(passwords[i]);
  }
}

static void search(void) {
  GError *error = NULL;
  items = secret_service_search_sync(
      service, &schema, attributes,
      SECRET_SEARCH_ALL | SECRET_SEARCH_UNLOCK | SECRET_SEARCH_LOAD_SECRETS, NULL, &error);
  must(items != NULL, error, "search");
}

static void check_items(void) {
  must((int)g_list_length(items) == count, NULL, "the number of items");
  for (GList *link = items; link; link = link->next) {
    GHashTable *found = secret_item_get_attributes(link->data);
    g_autofree gchar *label = secret_item_get_label(link->data);
    SecretValue *secret = secret_item_get_secret(link->data);
    must(secret != NULL && *label, NULL, "the secret and the label of an item");
    const char *account = g_hash_table_lookup(found, "username");
    check_secret(atoi(account + strlen("account-")), secret_value_get_text(secret));
    secret_value_unref(secret);
    g_hash_table_unref(found);
  }
  g_list_free_full(items, g_object_unref);
}

// Threads

static gpointer read_in_thread(gpointer number) {
  GError *error = NULL;
  for (int i = 0; i < READS_PER_THREAD; i++) {
    gchar *secret = secret_password_lookupv_sync(
        &schema, tables[GPOINTER_TO_INT(number)], NULL, &error);
    must(secret != NULL, error, "lookup");
    check_secret(GPOINTER_TO_INT(number), secret);
    secret_password_free(secret);
  }
  return NULL;
}

static void read_in_threads(void) {
  GThread *threads[64];
  for (int i = 0; i < count; i++)
    threads[i] = g_thread_new("contender", read_in_thread, GINT_TO_POINTER(i));
  for (int i = 0; i < count; i++) g_thread_join(threads[i]);
}

// The work of the library's properties, which look before they change anything

static void look_up(gboolean is_there) {
  GError *error = NULL;
  gchar *found = secret_password_lookupv_sync(&schema, attributes, NULL, &error);
  must(!error && !found == !is_there, error, "the look-up before a change");
  secret_password_free(found);
}

static void replace_carefully(void) {
  look_up(TRUE);
  store(fresh);
}

static void prepare_account_in_turn(void) {
  static int number;
  own_account = accounts_in_turn[number];
  attributes = attributes_in_turn[number++];
  g_snprintf(fresh, sizeof fresh, "the secret %d", number);
}

static void create_carefully(void) {
  look_up(FALSE);
  store(fresh);
}

static void remove_carefully(void) {
  GError *error = NULL;
  GList *found = secret_service_search_sync(
      service, &schema, attributes, SECRET_SEARCH_NONE, NULL, &error);
  must(found && !found->next, error, "the search before a removal");
  must(secret_item_delete_sync(found->data, NULL, &error), error, "the removal");
  g_list_free_full(found, g_object_unref);
}

static void clear_in_turn(void) {
  remove_with_password();
  must(was_there, NULL, "the password to remove");
}

// Makes the attributes of as many accounts as there will be operations, and their items if they're to be
// removed.
static void set_up_in_turn(const Work *work) {
  for (int i = 0; i < count; i++) {
    own_account = accounts_in_turn[i] = g_strdup_printf("c-%s-%d", work->name, i);
    attributes = attributes_in_turn[i] = attributes_to_write(own_account);
    if (work->perform != create_carefully) store("to be removed");
  }
}

static const Work works[] = {
    {"read-password", nothing, read_with_password, check_password, 1},
    {"read-service", nothing, read_with_service, check_value, 1},
    {"write-password", prepare_write, write_with_password, check_written, 1},
    {"write-service", prepare_write, write_with_service, check_written, 1},
    {"write-in-turn-password", prepare_write_in_turn, write_with_password, check_written, 1},
    {"write-in-turn-service", prepare_write_in_turn, write_with_service, check_written, 1},
    {"create-password", prepare_creation, write_with_password, check_written, 1},
    {"create-service", prepare_creation, write_with_service, check_written, 1},
    {"absent-password", nothing, read_absent_with_password, check_absent, 1},
    {"absent-service", nothing, read_absent_with_service, check_absent, 1},
    {"remove-password", prepare_removal, remove_with_password, check_removed, 1},
    {"remove-service", prepare_removal, remove_with_service, check_removed, 1},
    {"reads", nothing, read_one_by_one, check_one_by_one, 1},
    {"search", nothing, search, check_items, 1},
    {"threads", nothing, read_in_threads, nothing, 0},
    {"careful-write", prepare_write, replace_carefully, nothing, 1},
    {"write-only", prepare_write, write_with_password, nothing, 1},
    {"careful-create", prepare_account_in_turn, create_carefully, nothing, 1},
    {"careful-remove", prepare_account_in_turn, remove_carefully, nothing, 1},
    {"clear-in-turn", prepare_account_in_turn, clear_in_turn, nothing, 1},
};

static void set_up(const Work *work) {
  GError *error = NULL;
  service = secret_service_get_sync(SECRET_SERVICE_OPEN_SESSION, NULL, &error);
  must(service != NULL, error, "the service");
  must(count <= MOST, NULL, "room for so many items");
  if (work->prepare == prepare_write_in_turn) return;
  if (work->prepare == prepare_account_in_turn) return set_up_in_turn(work);
  if (work->prepare != nothing || work->check == check_absent) {
    own_account = g_strconcat("c-", work->name, NULL);
    attributes = attributes_to_write(own_account);
  } else {
    attributes = work->perform == search ? attributes_of(NULL) : attributes_of_number(0);
  }
  for (int i = 0; i < count; i++) tables[i] = attributes_of_number(i);
}

int main(int argument_count, char **arguments) {
  int status = contend(works, G_N_ELEMENTS(works), set_up, argument_count, arguments);
  for (int i = 0; i < MOST && attributes_in_turn[i]; i++)
    secret_password_clearv_sync(&schema, attributes_in_turn[i], NULL, NULL);
  return status;
}
