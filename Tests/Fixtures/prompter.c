// SPDX-License-Identifier: Apache-2.0

// Answers gnome-keyring's prompts from a script instead of a screen.
//
//   prompter ANSWER ...
//
// Each prompt takes the next answer: "password:TEXT", "confirm", "dismiss" or "wait". With "wait",
// the prompt is never answered.
//
// The program prints "ready" when it owns the name that gnome-keyring sends its prompts to. It
// prints the line "prompt" for each prompt. It ends when its standard input ends.

#define GCR_API_SUBJECT_TO_CHANGE 1
#include <gcr/gcr-base.h>
#include <stdio.h>
#include <string.h>

static char **answers;

typedef struct { GObject parent; } ScriptedPrompt;
typedef struct { GObjectClass parent; } ScriptedPromptClass;

static void implement_prompt(GcrPromptIface *interface);

G_DEFINE_TYPE_WITH_CODE(ScriptedPrompt, scripted_prompt, G_TYPE_OBJECT,
                        G_IMPLEMENT_INTERFACE(GCR_TYPE_PROMPT, implement_prompt))

static const char *next_answer(void) {
  g_print("prompt\n");
  return *answers ? *answers++ : "dismiss";
}

static void answer(GcrPrompt *prompt, GAsyncReadyCallback callback, gpointer data) {
  const char *text = next_answer();
  if (strcmp(text, "wait") == 0) return;
  GTask *task = g_task_new(prompt, NULL, callback, data);
  if (g_str_has_prefix(text, "password:"))
    g_task_return_pointer(task, (gpointer)(text + strlen("password:")), NULL);
  else if (strcmp(text, "confirm") == 0)
    g_task_return_pointer(task, (gpointer)text, NULL);
  else
    g_task_return_pointer(task, NULL, NULL);
  g_object_unref(task);
}

static void password_async(GcrPrompt *prompt, GCancellable *cancellable,
                           GAsyncReadyCallback callback, gpointer data) {
  answer(prompt, callback, data);
}

static const char *password_finish(GcrPrompt *prompt, GAsyncResult *result, GError **error) {
  return g_task_propagate_pointer(G_TASK(result), error);
}

static GcrPromptReply confirm_finish(GcrPrompt *prompt, GAsyncResult *result, GError **error) {
  return g_task_propagate_pointer(G_TASK(result), error) ? GCR_PROMPT_REPLY_CONTINUE
                                                         : GCR_PROMPT_REPLY_CANCEL;
}

static void prompt_close(GcrPrompt *prompt) {}

static void implement_prompt(GcrPromptIface *interface) {
  interface->prompt_password_async = password_async;
  interface->prompt_password_finish = password_finish;
  interface->prompt_confirm_async = password_async;
  interface->prompt_confirm_finish = confirm_finish;
  interface->prompt_close = prompt_close;
}

// The prompter sets the texts of a dialog, but no dialog is shown.
static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  g_param_value_set_default(spec, value);
}

static void scripted_prompt_init(ScriptedPrompt *prompt) {}

static void scripted_prompt_class_init(ScriptedPromptClass *klass) {
  static const char *const names[] = {
      "title",        "message",        "description",       "warning",
      "password-new", "choice-label",   "choice-chosen",     "password-strength",
      "caller-window", "continue-label", "cancel-label",
  };
  GObjectClass *object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    g_object_class_override_property(object_class, i + 1, names[i]);
}

static void on_name(GDBusConnection *connection, const gchar *name, gpointer data) {
  g_print("ready\n");
}

static void on_name_lost(GDBusConnection *connection, const gchar *name, gpointer data) {
  g_printerr("prompter: another program owns %s\n", name);
  g_main_loop_quit(data);
}

static gboolean on_input_end(GIOChannel *input, GIOCondition condition, gpointer data) {
  g_main_loop_quit(data);
  return G_SOURCE_REMOVE;
}

int main(int argc, char **argv) {
  answers = argv + 1;
  setvbuf(stdout, NULL, _IOLBF, 0);
  GMainLoop *loop = g_main_loop_new(NULL, FALSE);
  GDBusConnection *connection = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
  if (!connection) return 1;
  GcrSystemPrompter *prompter =
      gcr_system_prompter_new(GCR_SYSTEM_PROMPTER_SINGLE, scripted_prompt_get_type());
  gcr_system_prompter_register(prompter, connection);
  g_bus_own_name_on_connection(connection, "org.gnome.keyring.SystemPrompter",
                               G_BUS_NAME_OWNER_FLAGS_DO_NOT_QUEUE, on_name, on_name_lost, loop,
                               NULL);
  g_io_add_watch(g_io_channel_unix_new(0), G_IO_HUP | G_IO_ERR, on_input_end, loop);
  g_main_loop_run(loop);
  gcr_system_prompter_unregister(prompter, FALSE);
  return 0;
}
