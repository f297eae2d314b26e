// SPDX-License-Identifier: Apache-2.0

// Sends the messages that the library sends to gnome-keyring, with as little around them as GLib allows: each
// with g_dbus_connection_call, together where the library sends them together, on a connection of its own. It
// checks nothing but the type of an answer. libsecret opens the session, and encrypts and decrypts the
// secrets, as it does for the library. The head of contending.h describes the arguments.

#define SECRET_API_SUBJECT_TO_CHANGE 1
#define SECRET_WITH_UNSTABLE 1

#include "contending.h"

#define COLLECTION "/org/freedesktop/secrets/aliases/default"
#define INTERFACE "org.freedesktop.Secret."
#define PROPERTIES "org.freedesktop.DBus.Properties"

enum { SECRETS_PER_MESSAGE = 15 };

static GDBusConnection *bus;
static SecretService *service;
static gchar *provider;
static const char *session;

// Messages that are sent together

static GVariant *answers[MOST];
static int sent, answered;

static void receive(GObject *source, GAsyncResult *result, gpointer number) {
  GError *error = NULL;
  GVariant *answer = g_dbus_connection_call_finish(bus, result, &error);
  must(answer != NULL, error, "an answer");
  answers[GPOINTER_TO_INT(number)] = answer;
  answered++;
}

static void send(const char *object, const char *interface, const char *method, GVariant *arguments,
                 const char *answer) {
  g_dbus_connection_call(bus, provider, object, interface, method, arguments, G_VARIANT_TYPE(answer),
                         G_DBUS_CALL_FLAGS_NO_AUTO_START, G_MAXINT, NULL, receive, GINT_TO_POINTER(sent++));
}

static void wait_for_answers(void) {
  while (answered < sent) g_main_context_iteration(NULL, TRUE);
}

static void forget_answers(void) {
  for (int i = 0; i < sent; i++) g_variant_unref(answers[i]);
  sent = answered = 0;
}

// The messages

static void search(const char *account, gboolean is_own) {
  GVariantBuilder attributes;
  g_variant_builder_init(&attributes, G_VARIANT_TYPE("a{ss}"));
  g_variant_builder_add(&attributes, "{ss}", "service", SERVICE);
  if (account) g_variant_builder_add(&attributes, "{ss}", "username", account);
  if (is_own) g_variant_builder_add(&attributes, "{ss}", "swift-keyring:key", "password:service,username");
  send(COLLECTION, INTERFACE "Collection", "SearchItems", g_variant_new("(a{ss})", &attributes), "(ao)");
}

static void get(const char *object, const char *interface, const char *property) {
  send(object, PROPERTIES, "Get", g_variant_new("(ss)", interface, property), "(v)");
}

static void get_secrets(gchar **paths, int number) {
  for (int first = 0; first < number; first += SECRETS_PER_MESSAGE) {
    GVariant *some = g_variant_new_objv(
        (const gchar *const *)paths + first, MIN(SECRETS_PER_MESSAGE, number - first));
    send("/org/freedesktop/secrets", INTERFACE "Service", "GetSecrets",
         g_variant_new("(@aoo)", some, session), "(a{o(oayays)})");
  }
}

static GVariant *encoded(const char *secret) {
  SecretValue *value = secret_value_new(secret, -1, "text/plain");
  GVariant *encoded = secret_service_encode_dbus_secret(service, value);
  secret_value_unref(value);
  return encoded;
}

// The answers

// Returns the only path in the answer to a search, or NULL if it's empty.
static const char *found(int number) {
  GVariant *paths = g_variant_get_child_value(answers[number], 0);
  const char *path = NULL;
  if (g_variant_n_children(paths) > 0) g_variant_get_child(paths, 0, "&o", &path);
  g_variant_unref(paths);
  return path;
}

// Decrypts the secrets in the answers from a number on, and returns their number.
static int read_secrets(int first) {
  int secrets = 0;
  for (int i = first; i < sent; i++) {
    GVariantIter *iterator;
    const char *path;
    GVariant *secret;
    g_variant_get(answers[i], "(a{o(oayays)})", &iterator);
    while (g_variant_iter_next(iterator, "{&o@(oayays)}", &path, &secret)) {
      SecretValue *value = secret_service_decode_dbus_secret(service, secret);
      must(value && g_str_has_prefix(secret_value_get_text(value), "the secret"), NULL, "a secret");
      secret_value_unref(value);
      g_variant_unref(secret);
      secrets++;
    }
    g_variant_iter_free(iterator);
  }
  return secrets;
}

static void read_lock(int number) {
  GVariant *value;
  g_variant_get(answers[number], "(v)", &value);
  must(!g_variant_get_boolean(value), NULL, "the lock of the collection");
  g_variant_unref(value);
}

static void read_attributes(GVariant *attributes) {
  GHashTable *table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  GVariantIter iterator;
  gchar *name, *value;
  g_variant_iter_init(&iterator, attributes);
  while (g_variant_iter_next(&iterator, "{ss}", &name, &value)) g_hash_table_insert(table, name, value);
  must(g_hash_table_size(table) > 2, NULL, "the attributes of an item");
  g_hash_table_unref(table);
  g_variant_unref(attributes);
}

static void read_own_attributes(int number) {
  GVariant *value;
  g_variant_get(answers[number], "(v)", &value);
  read_attributes(value);
}

static void read_all_properties(int number) {
  GVariant *properties = g_variant_get_child_value(answers[number], 0);
  gchar *label = NULL;
  guint64 created, modified;
  gboolean is_locked;
  must(g_variant_lookup(properties, "Label", "s", &label) &&
           g_variant_lookup(properties, "Created", "t", &created) &&
           g_variant_lookup(properties, "Modified", "t", &modified) &&
           g_variant_lookup(properties, "Locked", "b", &is_locked),
       NULL, "the properties of an item");
  read_attributes(g_variant_lookup_value(properties, "Attributes", G_VARIANT_TYPE("a{ss}")));
  g_free(label);
  g_variant_unref(properties);
}

// The works

static gchar *accounts[MOST];
static gchar *paths[MOST];
static int turn;

static void read_one(void) {
  search(accounts[0], TRUE);
  get_secrets(paths, 1);
  wait_for_answers();
  must(g_strcmp0(found(0), paths[0]) == 0 && read_secrets(1) == 1, NULL, "the password");
  forget_answers();
}

static void read_absent(void) {
  search("absent", FALSE);
  get(COLLECTION, INTERFACE "Collection", "Locked");
  wait_for_answers();
  must(!found(0), NULL, "no password");
  read_lock(1);
  forget_answers();
}

static void read_settings(void) {
  for (int i = 0; i < count; i++) search(accounts[i], TRUE);
  get_secrets(paths, count);
  wait_for_answers();
  for (int i = 0; i < count; i++) must(g_strcmp0(found(i), paths[i]) == 0, NULL, "the item");
  must(read_secrets(count) == count, NULL, "the passwords");
  forget_answers();
}

static void read_items(void) {
  static gchar *listed[MOST];
  search(NULL, FALSE);
  get(COLLECTION, INTERFACE "Collection", "Locked");
  wait_for_answers();
  read_lock(1);
  GVariantIter *iterator;
  int items = 0;
  g_variant_get(answers[0], "(ao)", &iterator);
  while (g_variant_iter_next(iterator, "o", &listed[items])) items++;
  g_variant_iter_free(iterator);
  must(items == count, NULL, "the number of items");
  forget_answers();
  for (int i = 0; i < items; i++)
    send(listed[i], PROPERTIES, "GetAll", g_variant_new("(s)", INTERFACE "Item"), "(a{sv})");
  get_secrets(listed, items);
  wait_for_answers();
  for (int i = 0; i < items; i++) read_all_properties(i);
  must(read_secrets(items) == items, NULL, "the secrets");
  forget_answers();
  for (int i = 0; i < items; i++) g_free(listed[i]);
}

static void emit(const char *path, const char *name) {
  g_dbus_connection_emit_signal(bus, NULL, path, "swift_keyring.Item", name, NULL, NULL);
}

static void flushed(GObject *source, GAsyncResult *result, gpointer is_done) {
  must(g_dbus_connection_flush_finish(bus, result, NULL), NULL, "the last signal");
  *(gboolean *)is_done = TRUE;
}

static void look_at(const char *account, const char *path) {
  search(account, FALSE);
  get(path, INTERFACE "Item", "Attributes");
  wait_for_answers();
  must(g_strcmp0(found(0), path) == 0, NULL, "the item to change");
  read_own_attributes(1);
  forget_answers();
}

static void replace(void) {
  gchar fresh[32];
  g_snprintf(fresh, sizeof fresh, "the secret %d", ++turn);
  look_at(accounts[0], paths[0]);
  emit(paths[0], "SecretChanging");
  send(paths[0], INTERFACE "Item", "SetSecret", g_variant_new("(@(oayays))", encoded(fresh)), "()");
  wait_for_answers();
  forget_answers();
  emit(paths[0], "SecretSet");
  gboolean is_flushed = FALSE;
  g_dbus_connection_flush(bus, NULL, flushed, &is_flushed);
  while (!is_flushed) g_main_context_iteration(NULL, TRUE);
}

// Creates the item of the next account, and keeps its path.
static void create_next(void) {
  const char *account = accounts[turn];
  gchar fresh[32];
  g_snprintf(fresh, sizeof fresh, "the secret %d", turn);
  search(account, FALSE);
  get(COLLECTION, INTERFACE "Collection", "Locked");
  wait_for_answers();
  must(!found(0), NULL, "no item");
  read_lock(1);
  forget_answers();
  gchar *label = g_strdup_printf("%s: %s", SERVICE, account);
  GVariantBuilder attributes, properties;
  g_variant_builder_init(&attributes, G_VARIANT_TYPE("a{ss}"));
  g_variant_builder_add(&attributes, "{ss}", "service", SERVICE);
  g_variant_builder_add(&attributes, "{ss}", "username", account);
  g_variant_builder_add(&attributes, "{ss}", "swift-keyring:key", "password:service,username");
  g_variant_builder_add(&attributes, "{ss}", "xdg:schema", "org.freedesktop.Secret.Generic");
  g_variant_builder_init(&properties, G_VARIANT_TYPE("a{sv}"));
  g_variant_builder_add(&properties, "{sv}", INTERFACE "Item.Label", g_variant_new_string(label));
  g_variant_builder_add(&properties, "{sv}", INTERFACE "Item.Attributes", g_variant_builder_end(&attributes));
  send(COLLECTION, INTERFACE "Collection", "CreateItem",
       g_variant_new("(a{sv}@(oayays)b)", &properties, encoded(fresh), TRUE), "(oo)");
  wait_for_answers();
  g_variant_get_child(answers[0], 0, "o", &paths[turn++]);
  forget_answers();
  g_free(label);
}

static void remove_next(void) {
  look_at(accounts[turn], paths[turn]);
  send(paths[turn], INTERFACE "Item", "Delete", NULL, "(o)");
  wait_for_answers();
  forget_answers();
  turn++;
}

static void delete_created(void) {
  while (turn-- > 0) {
    send(paths[turn], INTERFACE "Item", "Delete", NULL, "(o)");
    wait_for_answers();
    forget_answers();
  }
}

static const Work works[] = {
    {"read", nothing, read_one, nothing, 1},
    {"absent", nothing, read_absent, nothing, 1},
    {"write", nothing, replace, nothing, 1},
    {"create", nothing, create_next, nothing, 1},
    {"remove", nothing, remove_next, nothing, 1},
    {"items", nothing, read_items, nothing, 1},
    {"settings", nothing, read_settings, nothing, 1},
};

// The session, which belongs to the connection

// Makes libsecret use this connection instead of the process's shared one, and receive no signals.
static GObject *construct(GType type, guint number, GObjectConstructParam *properties) {
  GObjectClass *parent = G_OBJECT_CLASS(g_type_class_peek(SECRET_TYPE_SERVICE));
  GObject *object = parent->constructor(type, number, properties);
  g_object_set(object, "g-bus-type", G_BUS_TYPE_NONE, "g-flags",
               G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES | G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS, NULL);
  return object;
}

static void initialize_class(gpointer class, gpointer data) { G_OBJECT_CLASS(class)->constructor = construct; }

static void connect_to_provider(void) {
  GError *error = NULL;
  gchar *address = g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SESSION, NULL, &error);
  bus = g_dbus_connection_new_for_address_sync(
      address,
      G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION, NULL,
      NULL, &error);
  must(bus != NULL, error, "the bus");
  GTypeQuery parent;
  g_type_query(SECRET_TYPE_SERVICE, &parent);
  GType type = g_type_register_static_simple(SECRET_TYPE_SERVICE, "FloorService", parent.class_size,
                                             initialize_class, parent.instance_size, NULL, 0);
  service = g_object_new(type, "g-connection", bus, "flags", SECRET_SERVICE_OPEN_SESSION, NULL);
  must(g_initable_init(G_INITABLE(service), NULL, &error), error, "the session");
  session = secret_service_get_session_dbus_path(service);
  provider = g_dbus_proxy_get_name_owner(G_DBUS_PROXY(service));
}

// Deletes the item that an earlier run has left.
static void remove_present(const char *account) {
  search(account, TRUE);
  wait_for_answers();
  gchar *path = g_strdup(found(0));
  forget_answers();
  if (!path) return;
  send(path, INTERFACE "Item", "Delete", NULL, "(o)");
  wait_for_answers();
  forget_answers();
  g_free(path);
}

static void set_up(const Work *work) {
  connect_to_provider();
  gboolean is_in_turn = work->perform == create_next || work->perform == remove_next;
  // The names are as long as the library's, so that the messages are, too.
  for (int i = 0; i < count; i++)
    accounts[i] = is_in_turn                 ? g_strdup_printf("%s-messages-%d", work->name, i)
                  : work->perform == replace ? g_strdup("write-messages")
                                             : g_strdup_printf("account-%d", i);
  if (work->perform == create_next) return;
  if (is_in_turn || work->perform == replace) {
    if (work->perform == replace) remove_present(accounts[0]);
    for (int i = 0; i < count; i++) create_next();
    turn = 0;
    return;
  }
  for (int i = 0; i < count; i++) {
    search(accounts[i], TRUE);
    wait_for_answers();
    paths[i] = g_strdup(found(0));
    must(paths[i] != NULL, NULL, "the item");
    forget_answers();
  }
}

int main(int argument_count, char **arguments) {
  int status = contend(works, G_N_ELEMENTS(works), set_up, argument_count, arguments);
  if (strcmp(arguments[argument_count - 2], "create") == 0) delete_created();
  return status;
}
