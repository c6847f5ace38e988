/* PE program of role sparse: C += A B, of which A is sparse, in a published format, on one PE.
 * Scalar code is charged as the published text has it, and nothing of it is moved out of a loop; an
 * index of 32 bits takes a scalar operation more than one of 16. */
#include "pe.h"

enum format { COORDINATES, COLUMNS, ROWS, ELLPACK };
enum size {
    WIDTH, OUTER, INNER, FORMAT, SHIFT, BARE, AT_A, AT_FIRST, AT_SECOND, AT_C, NUMBERS = 12
};

struct memory {
    int32_t size[NUMBERS];
    int32_t stamp[4];
    float room[11000];                         /* B, C, the values of A, and where they are */
    struct vector multiply;
};

static const int32_t *indices(const struct memory *my, int32_t at)
{
    return (const int32_t *)&my->room[at];
}

/* A row of C, `SHIFT` elements on, += a value of A by a row of B, unless only the loop is timed. */
static void add(struct pe *pe, int32_t row, int32_t column, int32_t at)
{
    struct memory *my = pe->memory;
    float *const c = &my->room[my->size[AT_C] + my->size[WIDTH] * row + my->size[SHIFT]];

    CHARGE(pe, .wide_product = 2, .wide_integer = my->size[SHIFT], .address = 2, .scalar = 4);
    if (!my->size[BARE])
        vector_run(pe, &my->multiply, c, &my->room[my->size[WIDTH] * column],
                   &my->room[my->size[AT_A] + at]);
}

static void run_coordinates(struct pe *pe)
{
    const struct memory *my = pe->memory;
    const int32_t *const x = indices(my, my->size[AT_FIRST]);
    const int32_t *const y = indices(my, my->size[AT_SECOND]);

    for (int32_t at = 0; at < my->size[INNER]; at += 1) {
        CHARGE(pe, .loop = 1, .address = 3, .load = 6);
        add(pe, y[at], x[at], at);
    }
}

/* The values of a column, or of a row, one behind the other. */
static void run_compressed(struct pe *pe)
{
    const struct memory *my = pe->memory;
    const int32_t *const from = indices(my, my->size[AT_FIRST]);
    const int32_t *const other = indices(my, my->size[AT_SECOND]);

    for (int32_t j = 0; j < my->size[OUTER]; j += 1) {
        CHARGE(pe, .loop = 1, .wide_integer = 1, .address = 3, .scalar = 3, .load = 6,
               .float_operation = 1);
        for (int32_t at = from[j]; at < from[j + 1]; at += 1) {
            CHARGE(pe, .loop = 1, .wide_integer = 1, .address = 2, .scalar = 2, .load = 4);
            if (my->size[FORMAT] == COLUMNS)
                add(pe, other[at], j, at);
            else
                add(pe, j, other[at], at);
        }
    }
}

/* As many values in each row. */
static void run_ellpack(struct pe *pe)
{
    const struct memory *my = pe->memory;
    const int32_t *const columns = indices(my, my->size[AT_FIRST]);

    for (int32_t row = 0; row < my->size[OUTER]; row += 1) {
        CHARGE(pe, .loop = 1, .wide_product = 1);
        for (int32_t i = 0; i < my->size[INNER]; i += 1) {
            const int32_t at = row * my->size[INNER] + i;

            CHARGE(pe, .loop = 1, .wide_integer = 1, .address = 2, .scalar = 2, .load = 4);
            add(pe, row, columns[at], at);
        }
    }
}

static void run(struct pe *pe)
{
    struct memory *my = pe->memory;
    const int64_t begun = read_clock(pe);

    configure(pe, &my->multiply, NO_COUNTER, MAC, SIZES(my->size[WIDTH]), FLOAT32_OPERAND(1),
              FLOAT32_OPERAND(1), FLOAT32_OPERAND(0));
    if (my->size[FORMAT] == COORDINATES)
        run_coordinates(pe);
    else if (my->size[FORMAT] == ELLPACK)
        run_ellpack(pe);
    else
        run_compressed(pe);
    my->stamp[0] = (int32_t)(read_clock(pe) - begun);
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    activate(pe, run);
}

const struct program program_sparse = {
    .name = "sparse", .memory = sizeof(struct memory), .main = pe_main
};
