/* PE program of role tiled: a star of a radius over a tile of each PE, in rounds. In a round a PE
 * exchanges `radius` rows and columns with its neighbours, a task ends each transfer, and when all
 * have come a task computes; PEs on the border keep their tiles. With radius 1 the text has sums,
 * else multiply-adds. PE[1, 1] tells how many cycles a round takes in the second half of all. */
#include "pe.h"

enum size { WIDTH, HEIGHT, RADIUS, COLUMNS, ROWS, ROUNDS, AT_OWN, NUMBERS = 12 };
enum { WEST, EAST, NORTH, SOUTH, SIDES };

struct memory {
    int32_t size[NUMBERS];
    int32_t stamp[4];
    float room[11000];                         /* the tile in a margin, and sums likewise */
    int32_t round, received, sent, ready, from;
    struct vector send[SIDES], receive[SIDES], compute[6];
};

static void loop(struct pe *pe);

static int has_neighbour(const struct pe *pe, int side)
{
    const struct memory *my = pe->memory;
    static const int dx[] = { -1, 1, 0, 0 }, dy[] = { 0, 0, -1, 1 };
    const int x = pe->x + dx[side], y = pe->y + dy[side];

    return x >= 0 && x < my->size[COLUMNS] && y >= 0 && y < my->size[ROWS];
}

static int neighbours(const struct pe *pe)
{
    int count = 0;

    for (int side = 0; side < SIDES; side += 1)
        count += has_neighbour(pe, side);
    return count;
}

static int is_border(const struct pe *pe)
{
    return neighbours(pe) < SIDES;
}

/* Elements from one row of the tile, with its margin, to the next. */
static int32_t row_of(const struct memory *my)
{
    return my->size[WIDTH] + 2 * my->size[RADIUS] + 1;
}

/* The tile's element in this row and column. */
static float *element(struct memory *my, int32_t row, int32_t column)
{
    return &my->room[(my->size[RADIUS] + row) * row_of(my) + my->size[RADIUS] + column];
}

/* What goes to a side or, one radius further, comes from there. */
static float *strip(struct memory *my, int side, int comes)
{
    const int32_t far = comes ? my->size[RADIUS] : 0, radius = my->size[RADIUS];

    switch (side) {
    case WEST: return element(my, 0, -far);
    case EAST: return element(my, 0, my->size[WIDTH] - radius + far);
    case NORTH: return element(my, -far, 0);
    default: return element(my, my->size[HEIGHT] - radius + far, 0);
    }
}

static struct sizes sizes_of(const struct memory *my, int side)
{
    return side < NORTH ? SIZES(my->size[HEIGHT], my->size[RADIUS])
                        : SIZES(my->size[RADIUS], my->size[WIDTH]);
}

/* The colour on which a PE sends to a side, or hears what comes from there. */
static int colour_of(const struct pe *pe, int side, int comes)
{
    const int towards = comes ? side ^ 1 : side;
    const int at = side < NORTH ? pe->x : pe->y;

    return 2 * towards + (at + comes) % 2;
}

static struct operand tile_operand(const struct memory *my)
{
    return FLOAT32_OPERAND(row_of(my), 1);
}

static void run_vector(struct pe *pe, int at, enum operation operation, float *d, const float *a,
                       const float *b)
{
    struct memory *my = pe->memory;
    struct vector *const v = &my->compute[at];
    const struct operand tile = tile_operand(my);

    if (my->size[RADIUS] > 1 || my->round == 1)
        configure(pe, v, NO_COUNTER, operation, SIZES(my->size[HEIGHT], my->size[WIDTH]), tile,
                  tile, operation == ADD ? tile : FLOAT32_OPERAND(0, 0));
    vector_run(pe, v, d, a, b);
}

/* Sums of the neighbours and the element itself, halved. */
static void compute_sums(struct pe *pe, float *own, float *here)
{
    const int32_t row = row_of(pe->memory);
    static const float one = 1.0f, half = 0.5f;

    run_vector(pe, 0, MUL, own, here, &one);
    run_vector(pe, 1, ADD, own, own, here - row);
    run_vector(pe, 2, ADD, own, own, here + row);
    run_vector(pe, 3, ADD, own, own, here - 1);
    run_vector(pe, 4, ADD, own, own, here + 1);
    run_vector(pe, 5, MUL, here, own, &half);
}

/* Products of all of a star, halved, summed up; that of the element itself comes last. */
static void compute_products(struct pe *pe, float *own, float *here)
{
    struct memory *my = pe->memory;
    const struct operand tile = tile_operand(my);
    const int32_t row = row_of(my);
    static const float half = 0.5f;

    for (int32_t i = 1; i <= my->size[RADIUS]; i += 1) {
        const float *const around[] = { here - i * row, here + i * row, here - i, here + i };

        CHARGE(pe, .load = 2 + 4, .scalar = 4, .store = 4);
        for (int k = 0; k < 4; k += 1)
            run_vector(pe, 0, i == 1 && k == 0 ? MUL : MAC, own, around[k], &half);
    }
    configure_fused(pe, &my->compute[1], NO_COUNTER, FMA, SIZES(my->size[HEIGHT], my->size[WIDTH]),
                    tile, tile, FLOAT32_OPERAND(0, 0), tile);
    vector_run_fused(pe, &my->compute[1], here, here, &half, own);
}

static void compute(struct pe *pe)
{
    struct memory *my = pe->memory;
    float *const own = element(my, 0, 0) + my->size[AT_OWN], *const here = element(my, 0, 0);

    if (!is_border(pe)) {
        if (my->size[RADIUS] == 1)
            compute_sums(pe, own, here);
        else
            compute_products(pe, own, here);
    }
    activate(pe, loop);
}

/* A transfer in or out is complete; behind the last of all the task that computes is let go. */
static void count(struct pe *pe, int32_t *counted)
{
    struct memory *my = pe->memory;

    CHARGE(pe, .load = 1, .scalar = 2, .store = 1, .branch = 1);
    *counted += 1;
    if (*counted < neighbours(pe))
        return;
    *counted = 0;
    CHARGE(pe, .store = 1, .scalar = 1);
    my->ready += 1;
    if (my->ready == 2)
        activate(pe, compute);
}

static void end_send(struct pe *pe)
{
    count(pe, &((struct memory *)pe->memory)->sent);
}

static void end_receive(struct pe *pe)
{
    count(pe, &((struct memory *)pe->memory)->received);
}

static void exchange(struct pe *pe)
{
    struct memory *my = pe->memory;
    const struct operand tile = tile_operand(my);

    for (int side = 0; side < SIDES; side += 1)
        if (has_neighbour(pe, side)) {
            configure(pe, &my->send[side], NO_COUNTER, COPY, sizes_of(my, side), FLOAT32_FABRIC,
                      tile, NO_OPERAND);
            stream_send(pe, &my->send[side], colour_of(pe, side, 0), strip(my, side, 0), end_send);
        }
    for (int side = 0; side < SIDES; side += 1)
        if (has_neighbour(pe, side)) {
            configure(pe, &my->receive[side], NO_COUNTER, COPY, sizes_of(my, side), tile,
                      FLOAT32_FABRIC, NO_OPERAND);
            stream_receive(pe, &my->receive[side], colour_of(pe, side, 1), strip(my, side, 1),
                           end_receive);
        }
}

static void loop(struct pe *pe)
{
    struct memory *my = pe->memory;
    const int32_t half = my->size[ROUNDS] / 2;

    if (my->round == half)
        my->from = (int32_t)read_clock(pe);
    CHARGE(pe, .load = 4, .wide_integer = 1, .branch = 1);
    if (my->round == my->size[ROUNDS]) {
        if (pe->x == 1 && pe->y == 1)
            my->stamp[0] = ((int32_t)read_clock(pe) - my->from) / half;
        invocation_done(pe);
        return;
    }
    my->ready = 0;
    my->round += 1;
    CHARGE(pe, .scalar = 1, .load = 2, .wide_integer = 1, .store = 2);
    exchange(pe);
}

static void pe_main(struct pe *pe)
{
    activate(pe, loop);
}

const struct program program_tiled = {
    .name = "tiled", .memory = sizeof(struct memory), .main = pe_main
};
