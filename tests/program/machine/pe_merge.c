/* PE program of role merge. */
#include "vm.h"

static void pe_main(struct pe *pe)
{
    pass_by(pe, ARGS_DIST, ARGS);
    pass_as_control(pe, CTRL_DIST, CTRL);
    invocation_done(pe);
}

const struct program program_merge = { .name = "merge", .memory = 1, .main = pe_main };
