/* PE program of role commands: two control wavelets, as memory says, then an element. */
#include "pe.h"

enum { X };

struct memory {
    struct list {
        int32_t argument, quiet, count, command[MAX_COMMANDS];
    } list[2];
};

static void pe_main(struct pe *pe)
{
    const struct memory *my = pe->memory;

    for (int i = 0; i < 2; i += 1) {
        const struct list *list = &my->list[i];
        struct commands commands = { .count = list->count };

        for (int k = 0; k < list->count; k += 1)
            commands.command[k] = (enum command)list->command[k];
        if (list->count > 0)
            send_control(pe, X, commands, list->argument, list->quiet);
    }
    send_wavelet(pe, X, (wavelet){ 1 });
    invocation_done(pe);
}

const struct program program_commands = {
    .name = "commands", .memory = sizeof(struct memory), .main = pe_main
};
