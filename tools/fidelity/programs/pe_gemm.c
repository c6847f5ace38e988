/* PE program of role gemm: C += A B, a column of C by a column of A at a time, on one PE. Scalar
 * code is charged as the published text has it, and nothing of it is moved out of a loop. */
#include "pe.h"

enum size { WIDTH, ROWS, INNER, BARE, AT_A, AT_C, NUMBERS = 12 };

struct memory {
    int32_t size[NUMBERS];
    int32_t stamp[4];
    float room[11000];                         /* B, A, C */
    struct vector multiply;
};

static void run(struct pe *pe)
{
    struct memory *my = pe->memory;
    const int32_t width = my->size[WIDTH], inner = my->size[INNER];
    const int64_t begun = read_clock(pe);

    configure(pe, &my->multiply, NO_COUNTER, MAC, SIZES(my->size[ROWS]), FLOAT32_OPERAND(width),
              FLOAT32_OPERAND(inner), FLOAT32_OPERAND(0));
    for (int32_t k = 0; k < inner; k += 1) {
        CHARGE(pe, .loop = 1, .address = 1, .scalar = 1);
        for (int32_t j = 0; j < width; j += 1) {
            CHARGE(pe, .loop = 1, .address = 2, .scalar = 3, .load = 2);
            if (!my->size[BARE])
                vector_run(pe, &my->multiply, &my->room[my->size[AT_C] + j],
                           &my->room[my->size[AT_A] + k], &my->room[k * width + j]);
        }
    }
    my->stamp[0] = (int32_t)(read_clock(pe) - begun);
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    activate(pe, run);
}

const struct program program_gemm = {
    .name = "gemm", .memory = sizeof(struct memory), .main = pe_main
};
