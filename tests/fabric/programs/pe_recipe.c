/* PE program of role recipe: one vector instruction, described by a tensor. */
#include "pe.h"

enum { RUN };

struct memory {
    int32_t recipe[24];      /* operation, types, rank, sizes, strides, first elements */
    int32_t d_local[512];
    int32_t a_local[512];
    int32_t b_local[512];
    struct vector run;
};

static struct operand operand_of(const int32_t *recipe, int k)
{
    const int32_t *stride = &recipe[9 + 4 * k];

    return (struct operand){ (enum element)recipe[1 + k],
                             { stride[0], stride[1], stride[2], stride[3] } };
}

static char *first_of(const int32_t *recipe, int k, int32_t *local)
{
    const int size = recipe[1 + k] == FLOAT16 || recipe[1 + k] == INT16 ? 2 : 4;

    return (char *)local + size * recipe[21 + k];
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;
    const int32_t *recipe = my->recipe, *size = &recipe[5];

    configure(pe, &my->run, RUN, (enum operation)recipe[0],
              (struct sizes){ recipe[4], { size[0], size[1], size[2], size[3] } },
              operand_of(recipe, 0), operand_of(recipe, 1), operand_of(recipe, 2));
    vector_run(pe, &my->run, first_of(recipe, 0, my->d_local), first_of(recipe, 1, my->a_local),
               first_of(recipe, 2, my->b_local));
    invocation_done(pe);
}

const struct program program_recipe = {
    .name = "recipe", .memory = sizeof(struct memory), .main = pe_main, .counters = 1
};
