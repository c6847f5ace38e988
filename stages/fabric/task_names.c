/* Tasks by the names that programs have for them, and the task that a PE ran last. */
#include <stdio.h>

#include "engine.h"

enum { TASK_NAMES = 1024 };

static struct {
    uint32_t key;
    const char *name;                          /* as the program spells it */
} names[TASK_NAMES];

/* What tells tasks of a library apart. */
uint32_t key_of(void (*task)(void))
{
    return (uint32_t)(uintptr_t)task;
}

static uint32_t entry_of(uint32_t key)
{
    return key >> 4 & (TASK_NAMES - 1);
}

/* Of two tasks with one entry that which was named last is found. So names cost a program next to
 * nothing, and who reports a fault only needs those of what ran lately. */
void name_task(struct pe *pe, void (*of)(void), const char *name)
{
    const uint32_t key = key_of(of);

    names[entry_of(key)].key = key;
    names[entry_of(key)].name = name;
    record_name(((struct node *)pe)->engine, of, name);
}

const char *role_name(const struct node *node)
{
    return node->engine->layout->programs[node->role]->name;
}

/* The last task of the PE in a few words: `its task NAME`, and on what it started. */
struct described describe_task(const struct node *node)
{
    const struct layout *layout = node->engine->layout;
    const uint32_t entry = entry_of(node->ran);
    const bool known = names[entry].name != NULL && names[entry].key == node->ran;
    const int on = node->ran_on;
    const int colour = on >= layout->colours ? on - layout->colours : on;
    struct described described;

    if (on == IN_MAIN)
        snprintf(described.text, sizeof described.text, "its main");
    else
        snprintf(described.text, sizeof described.text, "%s%.*s%s%s%s",
                 known ? "its task `" : on < 0 ? "a task that was activated" : "its task",
                 LONGEST_NAME, known ? names[entry].name : "", known ? "`" : "",
                 on < 0 ? "" : on >= layout->colours ? " on a control wavelet of "
                                                     : " on an element of ",
                 on < 0 ? "" : layout->colour_names[colour]);
    return described;
}
