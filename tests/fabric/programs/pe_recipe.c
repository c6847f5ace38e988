/* PE program of role recipe: one vector instruction, described by a tensor. */
#include "pe.h"

enum { RUN };

struct memory {
    int32_t recipe[30];      /* operation, types, rank, sizes, strides, first elements */
    int32_t d_local[512];
    int32_t a_local[512];
    int32_t b_local[512];
    int32_t c_local[512];
    struct vector run;
};

static struct operand operand_of(const int32_t *recipe, int k)
{
    const int32_t *stride = &recipe[10 + 4 * k];

    return (struct operand){ (enum element)recipe[1 + k],
                             { stride[0], stride[1], stride[2], stride[3] } };
}

static char *first_of(const int32_t *recipe, int k, int32_t *local)
{
    const int size = recipe[1 + k] == FLOAT16 || recipe[1 + k] == INT16 ? 2 : 4;

    return (char *)local + size * recipe[26 + k];
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;
    const int32_t *recipe = my->recipe, *size = &recipe[6];

    const enum operation operation = (enum operation)recipe[0];
    const struct sizes sizes = { recipe[5], { size[0], size[1], size[2], size[3] } };
    char *const d = first_of(recipe, 0, my->d_local), *const a = first_of(recipe, 1, my->a_local);
    char *const b = first_of(recipe, 2, my->b_local), *const c = first_of(recipe, 3, my->c_local);

    if (operation < FMA || operation > FNMA) {
        configure(pe, &my->run, RUN, operation, sizes, operand_of(recipe, 0),
                  operand_of(recipe, 1), operand_of(recipe, 2));
        vector_run(pe, &my->run, d, a, b);
    } else {
        configure_fused(pe, &my->run, RUN, operation, sizes, operand_of(recipe, 0),
                        operand_of(recipe, 1), operand_of(recipe, 2), operand_of(recipe, 3));
        vector_run_fused(pe, &my->run, d, a, b, c);
    }
    invocation_done(pe);
}

const struct program program_recipe = {
    .name = "recipe", .memory = sizeof(struct memory), .main = pe_main, .counters = 1
};
