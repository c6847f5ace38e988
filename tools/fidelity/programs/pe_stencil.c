/* PE program of role stencil: v of the four neighbours - 4 v over a tile of each PE. Each PE sends
 * the edges of its tile; a task takes each element that comes, and when all have come and all is
 * sent, rows, then columns, are summed up, a vector instruction each. */
#include "pe.h"

enum size { WIDTH, PES, NUMBERS = 12 };
enum { WEST, EAST, NORTH, SOUTH, SIDES };

struct memory {
    int32_t size[NUMBERS];
    int32_t stamp[4];
    float room[11000];                         /* the tile in a margin, and the sums likewise */
    int32_t begun, counted[SIDES], received, sent;
    struct vector send[SIDES], add;
};

static int has_neighbour(const struct pe *pe, int side)
{
    const struct memory *my = pe->memory;
    static const int dx[] = { -1, 1, 0, 0 }, dy[] = { 0, 0, -1, 1 };
    const int x = pe->x + dx[side], y = pe->y + dy[side];

    return x >= 0 && x < my->size[PES] && y >= 0 && y < my->size[PES];
}

static int neighbours(const struct pe *pe)
{
    int count = 0;

    for (int side = 0; side < SIDES; side += 1)
        count += has_neighbour(pe, side);
    return count;
}

static int32_t row_of(const struct memory *my)
{
    return my->size[WIDTH] + 2;
}

static float *sums(struct memory *my)
{
    return my->room + row_of(my) * row_of(my);
}

/* The colour on which a PE sends to a side, or hears what comes from there. */
static int colour_of(const struct pe *pe, int side, int comes)
{
    const int towards = comes ? side ^ 1 : side;
    const int at = side < NORTH ? pe->x : pe->y;

    return 2 * towards + (at + comes) % 2;
}

/* A row, or a column, of the sums += a number by one of the tile; the text then moves `moved` of
 * both. */
static void add(struct pe *pe, int32_t stride, int32_t to, int32_t from, const float *number,
                int moved)
{
    struct memory *my = pe->memory;

    configure(pe, &my->add, NO_COUNTER, MAC, SIZES(my->size[WIDTH]), FLOAT32_OPERAND(stride),
              FLOAT32_OPERAND(stride), FLOAT32_OPERAND(0));
    vector_run(pe, &my->add, sums(my) + to, my->room + from, number);
    CHARGE(pe, .load = moved, .scalar = moved, .store = moved);
}

static void compute(struct pe *pe)
{
    struct memory *my = pe->memory;
    const int32_t row = row_of(my), width = my->size[WIDTH];
    static const float one = 1.0f, less = -4.0f;

    for (int32_t i = 1; i <= width; i += 1) {
        CHARGE(pe, .loop = 1);
        add(pe, 1, i * row + 1, (i - 1) * row + 1, &one, 1);
        add(pe, 1, i * row + 1, (i + 1) * row + 1, &one, 2);
    }
    for (int32_t j = 1; j <= width; j += 1) {
        CHARGE(pe, .loop = 1);
        add(pe, row, row + j, row + j - 1, &one, 1);
        add(pe, row, row + j, row + j, &less, 1);
        add(pe, row, row + j, row + j + 1, &one, 2);
    }
    CHARGE(pe, .load = 2, .store = 2);
    my->stamp[0] = (int32_t)read_clock(pe) - my->begun;
    invocation_done(pe);
}

/* Wait until all is sent, too. */
static void wait(struct pe *pe)
{
    const struct memory *my = pe->memory;

    CHARGE(pe, .load = 2, .scalar = 1, .branch = 1);
    if (my->sent == neighbours(pe))
        activate(pe, compute);
    else
        activate(pe, wait);
}

static void end_send(struct pe *pe)
{
    CHARGE(pe, .load = 1, .scalar = 1, .store = 1);
    ((struct memory *)pe->memory)->sent += 1;
}

/* An element of the margin has come. */
static void take(struct pe *pe, wavelet w, int side, int32_t first, int32_t step)
{
    struct memory *my = pe->memory;

    CHARGE(pe, .load = 2, .scalar = 2, .integer_product = side < NORTH, .address = 1, .store = 3,
           .branch = 1);
    my->room[first + step * my->counted[side]] = wavelet_float32(w);
    my->counted[side] += 1;
    if (my->counted[side] < my->size[WIDTH])
        return;
    CHARGE(pe, .load = 2, .scalar = 3, .store = 2, .branch = 1);
    block(pe, colour_of(pe, side, 1));
    my->received += 1;
    if (my->received == neighbours(pe))
        activate(pe, wait);
}

static void from_west(struct pe *pe, wavelet w)
{
    const int32_t row = row_of(pe->memory);

    take(pe, w, WEST, row, row);
}

static void from_east(struct pe *pe, wavelet w)
{
    const int32_t row = row_of(pe->memory);

    take(pe, w, EAST, 2 * row - 1, row);
}

static void from_north(struct pe *pe, wavelet w)
{
    take(pe, w, NORTH, 1, 1);
}

static void from_south(struct pe *pe, wavelet w)
{
    const int32_t row = row_of(pe->memory);

    take(pe, w, SOUTH, (row - 1) * row + 1, 1);
}

static void send(struct pe *pe)
{
    struct memory *my = pe->memory;
    const int32_t row = row_of(my), width = my->size[WIDTH];
    const int32_t first[] = { row + 1, row + width, row + 1, width * row + 1 };

    my->begun = (int32_t)read_clock(pe);
    CHARGE(pe, .store = 1 + SIDES, .load = SIDES, .address = SIDES);
    for (int side = 0; side < SIDES; side += 1)
        if (has_neighbour(pe, side)) {
            CHARGE(pe, .scalar = 1, .branch = 1);
            configure(pe, &my->send[side], NO_COUNTER, COPY, SIZES(width), FLOAT32_FABRIC,
                      FLOAT32_OPERAND(side < NORTH ? row : 1), NO_OPERAND);
            stream_send(pe, &my->send[side], colour_of(pe, side, 0), my->room + first[side],
                        end_send);
        }
}

static void pe_main(struct pe *pe)
{
    static wavelet_task *const reactions[] = { from_west, from_east, from_north, from_south };

    for (int side = 0; side < SIDES; side += 1)
        if (has_neighbour(pe, side))
            on_data(pe, colour_of(pe, side, 1), reactions[side]);
    activate(pe, send);
}

const struct program program_stencil = {
    .name = "stencil", .memory = sizeof(struct memory), .main = pe_main
};
