// SPDX-License-Identifier: Apache-2.0

// Sends the messages of libsecret's calls by sd-bus, with nothing around them: what the bus alone costs. The session has
// no encryption.

#include "contending.h"

#include <systemd/sd-bus.h>

#define SERVICE "org.freedesktop.secrets"
#define PATH "/org/freedesktop/secrets"
#define INTERFACE "org.freedesktop.Secret."

static int count = 1;
static sd_bus *bus;
static char session[128];
static char account[64];
// The path of the item that was found, or an empty text
static char found[256];
static char secret[64];
static char fresh[64];
static bool writes;

static void ok(int result, const char *what) { must(result >= 0, result < 0 ? strerror(-result) : NULL, what); }

// Sends a message, and returns the answer.
static sd_bus_message *answer(sd_bus_message *message, const char *what) {
  sd_bus_error error = SD_BUS_ERROR_NULL;
  sd_bus_message *reply = NULL;
  must(sd_bus_call(bus, message, 0, &error, &reply) >= 0, error.message, what);
  sd_bus_message_unref(message);
  return reply;
}

static sd_bus_message *call(const char *path, const char *interface, const char *method) {
  sd_bus_message *message = NULL;
  ok(sd_bus_message_new_method_call(bus, &message, SERVICE, path, interface, method), method);
  return message;
}

static void open_session(void) {
  sd_bus_message *message = call(PATH, INTERFACE "Service", "OpenSession");
  ok(sd_bus_message_append(message, "sv", "plain", "s", ""), "the algorithm");
  sd_bus_message *reply = answer(message, "OpenSession");
  const char *path;
  ok(sd_bus_message_skip(reply, "v"), "the output");
  ok(sd_bus_message_read(reply, "o", &path), "the session");
  snprintf(session, sizeof session, "%s", path);
  sd_bus_message_unref(reply);
}

static void append_attributes(sd_bus_message *message) {
  if (writes)
    ok(sd_bus_message_append(message, "a{ss}", 3, "service", "swift-keyring-benchmark", "username", account,
                             "swift-keyring-key", "password service username"),
       "attributes");
  else
    ok(sd_bus_message_append(message, "a{ss}", 2, "service", "swift-keyring-benchmark", "username", account),
       "attributes");
}

static void search(void) {
  sd_bus_message *message = call(PATH, INTERFACE "Service", "SearchItems");
  append_attributes(message);
  sd_bus_message *reply = answer(message, "SearchItems");
  const char *path;
  ok(sd_bus_message_enter_container(reply, 'a', "o"), "the items");
  int is_there = sd_bus_message_read(reply, "o", &path);
  ok(is_there, "the item");
  snprintf(found, sizeof found, "%s", is_there ? path : "");
  sd_bus_message_unref(reply);
}

static void get_secret(void) {
  sd_bus_message *message = call(PATH, INTERFACE "Service", "GetSecrets");
  ok(sd_bus_message_append(message, "aoo", 1, found, session), "the request");
  sd_bus_message *reply = answer(message, "GetSecrets");
  const void *bytes;
  size_t length;
  ok(sd_bus_message_enter_container(reply, 'a', "{o(oayays)}"), "the secrets");
  ok(sd_bus_message_enter_container(reply, 'e', "o(oayays)"), "the entry");
  ok(sd_bus_message_skip(reply, "o"), "the item");
  ok(sd_bus_message_enter_container(reply, 'r', "oayays"), "the secret");
  ok(sd_bus_message_skip(reply, "oay"), "the session");
  ok(sd_bus_message_read_array(reply, 'y', &bytes, &length), "the bytes");
  snprintf(secret, sizeof secret, "%.*s", (int)length, (const char *)bytes);
  sd_bus_message_unref(reply);
}

static void look_up(void) {
  secret[0] = '\0';
  search();
  if (found[0]) get_secret();
}

static void store(void) {
  sd_bus_message *message = call(PATH "/aliases/default", INTERFACE "Collection", "CreateItem");
  ok(sd_bus_message_open_container(message, 'a', "{sv}"), "properties");
  ok(sd_bus_message_append(message, "{sv}", INTERFACE "Item.Label", "s", account), "the label");
  ok(sd_bus_message_open_container(message, 'e', "sv"), "the attributes");
  ok(sd_bus_message_append(message, "s", INTERFACE "Item.Attributes"), "their name");
  ok(sd_bus_message_open_container(message, 'v', "a{ss}"), "their value");
  ok(sd_bus_message_append(message, "a{ss}", 4, "service", "swift-keyring-benchmark", "username", account,
                           "swift-keyring-key", "password service username", "xdg:schema",
                           "org.freedesktop.Secret.Generic"),
     "attributes");
  for (int level = 0; level < 3; level++) ok(sd_bus_message_close_container(message), "an end");
  ok(sd_bus_message_open_container(message, 'r', "oayays"), "the secret");
  ok(sd_bus_message_append(message, "o", session), "the session");
  ok(sd_bus_message_append_array(message, 'y', NULL, 0), "the parameters");
  ok(sd_bus_message_append_array(message, 'y', fresh, strlen(fresh)), "the bytes");
  ok(sd_bus_message_append(message, "s", "text/plain"), "the type");
  ok(sd_bus_message_close_container(message), "the end");
  ok(sd_bus_message_append(message, "b", true), "the replacement");
  sd_bus_message_unref(answer(message, "CreateItem"));
}

static void look_up_and_store(void) {
  look_up();
  store();
}

static void clear(void) {
  search();
  must(found[0], NULL, "the item to remove");
  sd_bus_message_unref(answer(call(found, INTERFACE "Item", "Delete"), "Delete"));
}

static void prepare_write(void) {
  static int number;
  snprintf(fresh, sizeof fresh, "the secret %d", ++number);
}

static const char *name;

static void choose(int number) { snprintf(account, sizeof account, "sd-bus-%s-%d", name, number); }

static void prepare_in_turn(void) {
  static int number;
  choose(number);
  snprintf(fresh, sizeof fresh, "the secret %d", ++number);
}

static void check_read(void) { must(strcmp(secret, "the secret of account-0") == 0, NULL, "the password"); }

static void check_absent(void) { must(!secret[0], NULL, "no password"); }

static void check_written(void) {
  look_up();
  must(strcmp(secret, fresh) == 0, NULL, "the password written");
}

static const Work works[] = {
    {"read", nothing, look_up, check_read, nothing},
    {"absent", nothing, look_up, check_absent, nothing},
    {"look-and-write", prepare_write, look_up_and_store, check_written, nothing},
    {"create", prepare_in_turn, look_up_and_store, nothing, nothing},
    {"clear", prepare_in_turn, clear, nothing, nothing},
};

static const Work *set_up(void) {
  const Work *work = work_named(name, works, sizeof works / sizeof *works);
  ok(sd_bus_open_user(&bus), "the bus");
  open_session();
  writes = strcmp(name, "read") != 0;
  if (writes) choose(0);
  else snprintf(account, sizeof account, "account-0");
  if (work->perform == clear || work->check == check_written)
    for (int i = 0; i < count; i++) {
      choose(i);
      store();
    }
  return work;
}

int main(int argument_count, char **arguments) {
  bool counts = argument_count > 1 && strcmp(arguments[1], "count") == 0;
  arguments += 1 + counts;
  must(arguments[0] != NULL, NULL, "[count] WORK [COUNT]");
  name = arguments[0];
  if (arguments[1]) count = atoi(arguments[1]);
  const Work *work = set_up();
  contend(work, counts, nothing);
  // Nothing stays behind that slows down the next contender.
  for (int i = 0; i < count && writes; i++) {
    choose(i);
    search();
    if (found[0]) clear();
  }
  sd_bus_flush_close_unref(bus);
  return 0;
}
