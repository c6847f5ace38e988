/* From the layout to what the engine runs on: PEs, channels, sources and outlets. */
#include <stdlib.h>

#include "engine.h"
#include "guard.h"

void *zeros(struct engine *engine, int64_t count, size_t size)
{
    void *items;

    hold();
    items = calloc((size_t)(count > 0 ? count : 1), size);
    let_go();
    if (items == NULL)
        fail(engine, "out of memory for %lld items of %zu bytes", (long long)count, size);
    return items;
}

static void *filled(struct engine *engine, int64_t count, size_t size, int byte)
{
    void *items = zeros(engine, count, size);

    if (items != NULL)
        memset(items, byte, (size_t)count * size);
    return items;
}

/* ---- Routes ---------------------------------------------------------------------------------- */

/* How much a queue of the PE holds; -1 says `otherwise`, as does a router without a program. */
static int32_t depth_of(const struct engine *engine, const int32_t *depths, int32_t node,
                        int colour, int32_t otherwise)
{
    const int32_t role = engine->layout->role[node];
    const int32_t depth = role < 0 ? -1 : depths[role * engine->layout->colours + colour];

    return depth < 0 ? otherwise : depth;
}

int32_t intake_capacity(const struct engine *engine, int32_t node, int colour)
{
    const struct layout *layout = engine->layout;

    return depth_of(engine, layout->input_depth, node, colour, layout->machine.queue_depth)
         + latency(&layout->machine, RAMP);
}

/* The wavelets under way on a link come on top of the depth: full speed from depth 2 on. What a PE
 * sends waits in its own queue, then in the router's. */
int32_t channel_capacity(const struct engine *engine, int32_t node, int colour, int side)
{
    const struct layout *layout = engine->layout;
    const int32_t under_way = latency(&layout->machine, side) - 1;
    const int32_t own = side == RAMP ? depth_of(engine, layout->output_depth, node, colour, 0) : 0;

    return own + layout->machine.queue_depth + (under_way > 0 ? under_way : 0);
}

static void check_target(struct engine *engine, int32_t node, int colour, int side)
{
    const struct node *pe = &engine->node[node];
    bool taken;

    if (is_outside(engine, node, side))
        taken = engine->outlet_of[number_border(engine, node, side) * engine->layout->colours
                                  + colour] >= 0;
    else
        taken = channel_of(engine, node + engine->step[side], (side + 2) % 4, colour)
             != NO_CHANNEL;
    if (!taken)
        fail(engine, "the route of %s at PE[%d, %d] goes on to the %s, where nothing takes it",
             engine->layout->colour_names[colour], x_of(pe), y_of(pe),
             (const char *[]){ "north", "east", "south", "west" }[side]);
}

static void check_ramp(struct engine *engine, int32_t node, int colour)
{
    const struct node *pe = &engine->node[node];

    if (engine->node[node].role < 0)
        fail(engine, "the route of %s goes down the ramp at PE[%d, %d], which has no program",
             engine->layout->colour_names[colour], x_of(pe), y_of(pe));
}

static void check_copies(struct engine *engine, int32_t node, int colour, unsigned sides)
{
    const struct node *pe = &engine->node[node];

    if (!engine->layout->machine.multicast && sides & (sides - 1))
        fail(engine, "the route of %s at PE[%d, %d] goes to several sides; routers of this machine "
             "do not copy", engine->layout->colour_names[colour], x_of(pe), y_of(pe));
}

static void check_channel(struct engine *engine, int32_t node, const struct channel *channel)
{
    for (int position = 0; position < channel->positions; position += 1)
        check_copies(engine, node, channel->colour, channel->out[position]);
    for (int side = 0; side < RAMP; side += 1)
        if (channel->sides >> side & 1)
            check_target(engine, node, channel->colour, side);
    if (channel->sides >> RAMP & 1)
        check_ramp(engine, node, channel->colour);
}

static void check_routes(struct engine *engine)
{
    for (int32_t node = 0; node < engine->size; node += 1)
        for (int side = 0; side < SIDES; side += 1)
            for (int colour = 0; colour < engine->layout->colours; colour += 1) {
                const int number = channel_of(engine, node, side, colour);

                if (number != NO_CHANNEL)
                    check_channel(engine, node, &engine->router[node].routing->channel[number]);
            }
}

static void make_queues(struct engine *engine)
{
    int64_t size = 0;

    for (int32_t node = 0; node < engine->size; node += 1)
        size += engine->router[node].routing->size;
    engine->queues = zeros(engine, size, 1);
    size = 0;
    for (int32_t node = 0; engine->queues != NULL && node < engine->size; node += 1) {
        engine->router[node].queues = engine->queues + size;
        size += engine->router[node].routing->size;
        for (int colour = 0; colour < engine->layout->colours; colour += 1) {
            struct intake *intake = intake_of(&engine->node[node], colour);

            if (intake != NULL)
                intake->capacity = (uint32_t)intake_capacity(engine, node, colour);
        }
    }
}

/* ---- Ports ----------------------------------------------------------------------------------- */

static bool same_link(const struct inlet *a, const struct inlet *b)
{
    return a->node == b->node && a->side == b->side;
}

/* Inlets on one external link stand side by side, and share a source. */
static void make_sources(struct engine *engine)
{
    const struct layout *layout = engine->layout;

    for (int32_t i = 0; i < layout->inlets; i += 1) {
        const struct inlet *inlet = &layout->inlet[i];

        if (i == 0 || !same_link(inlet - 1, inlet))
            engine->source[engine->sources++] = (struct source){ .first = i };
        engine->source[engine->sources - 1].inlets += 1;
        if (is_outside(engine, inlet->node, inlet->side))
            engine->source_of[number_border(engine, inlet->node, inlet->side)] =
                engine->sources - 1;
        if (channel_of(engine, inlet->node, inlet->side, inlet->colour) == NO_CHANNEL)
            fail(engine, "%s arrives beside PE[%d, %d], where no route takes it",
                 layout->colour_names[inlet->colour], x_of(&engine->node[inlet->node]),
                 y_of(&engine->node[inlet->node]));
    }
}

static void number_outlets(struct engine *engine)
{
    const struct layout *layout = engine->layout;

    for (int32_t i = 0; i < layout->outlets; i += 1) {
        const struct outlet *outlet = &layout->outlet[i];

        engine->expected += outlet->ends > 0 ? outlet->ends : outlet->count;
        for (int colour = 0; colour < layout->colours; colour += 1)
            if (outlet->colours >> colour & 1 && is_outside(engine, outlet->node, outlet->side))
                engine->outlet_of[number_border(engine, outlet->node, outlet->side)
                                  * layout->colours + colour] = i;
    }
}

/* ---- PEs ------------------------------------------------------------------------------------- */

/* From where a program counts in x or y; routers without one count from (0, 0). */
static int32_t origin_of(const struct layout *layout, int32_t role, int axis)
{
    return role < 0 ? 0 : layout->origin[2 * role + axis];
}

static void make_nodes(struct engine *engine)
{
    const struct layout *layout = engine->layout;

    for (int32_t i = 0; i < engine->size; i += 1) {
        struct node *node = &engine->node[i];

        layout->activity[i].first = layout->activity[i].last = -1;
        node->id = i;
        node->engine = engine;
        node->role = layout->role[i];
        node->moved = (int8_t)(layout->colours - 1);
        node->sent = -1;
        node->pe.x = x_of(node) - origin_of(layout, node->role, 0);
        node->pe.y = y_of(node) - origin_of(layout, node->role, 1);
        node->pe.costs = &layout->machine.costs;
        node->pe.counters = &layout->counter[(int64_t)i * layout->counters];
        engine->running += node->role >= 0;
    }
}

static void make_routers(struct engine *engine)
{
    const int32_t width = engine->layout->width, height = engine->layout->height;

    engine->step[NORTH] = -width;
    engine->step[EAST] = 1;
    engine->step[SOUTH] = width;
    engine->step[WEST] = -1;
    for (int32_t i = 0; i < engine->size; i += 1)
        engine->router[i].outside = (uint8_t)((i / width == 0) << NORTH
                                              | (i % width == width - 1) << EAST
                                              | (i / width == height - 1) << SOUTH
                                              | (i % width == 0) << WEST);
    make_routings(engine);
}

static bool give_memory(struct engine *engine)
{
    const struct layout *layout = engine->layout;
    int64_t *given = zeros(engine, layout->roles, sizeof *given);

    if (given == NULL)
        return false;
    for (int32_t i = 0; i < engine->size; i += 1) {
        struct node *node = &engine->node[i];

        if (node->role < 0)
            continue;
        node->pe.memory = (char *)layout->memory[node->role]
                        + layout->memory_stride[node->role] * given[node->role]++;
        close_memory(node);
    }
    free(given);
    return true;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void make_agenda(struct engine *engine, enum actor actor, int64_t actors)
{
    struct agenda *agenda = &engine->clock.agenda[actor];

    agenda->words = (actors + 63) / 64;
    agenda->summaries = (agenda->words + 63) / 64;
    agenda->due = zeros(engine, HORIZON * agenda->words, sizeof *agenda->due);
    agenda->some = zeros(engine, HORIZON * agenda->summaries, sizeof *agenda->some);
}

static void make_tables(struct engine *engine)
{
    const struct layout *layout = engine->layout;
    const int64_t size = engine->size, borders = 2 * ((int64_t)layout->width + layout->height);

    engine->node = zeros(engine, size, sizeof *engine->node);
    engine->router = zeros(engine, size, sizeof *engine->router);
    engine->outlet_of = filled(engine, borders * layout->colours, sizeof *engine->outlet_of, 0xff);
    engine->source = zeros(engine, layout->inlets, sizeof *engine->source);
    engine->source_of = filled(engine, borders, sizeof *engine->source_of, 0xff);
    engine->inlet_count = zeros(engine, layout->inlets, sizeof *engine->inlet_count);
    engine->outlet_count = zeros(engine, layout->outlets, sizeof *engine->outlet_count);
    engine->outlet_ends = zeros(engine, layout->outlets, sizeof *engine->outlet_ends);
    engine->accesses = make_accesses(engine);
    engine->binning = make_binning(engine);
    if (!make_recorder(engine))
        return;
    make_agenda(engine, SOURCES, layout->inlets);
    make_agenda(engine, NODES, size);
    make_agenda(engine, ROUTERS, size);
}

/* Returns whether the engine can run; if not, it failed. */
bool build(struct engine *engine)
{
    engine->size = engine->layout->width * engine->layout->height;
    make_tables(engine);
    if (engine->status != COMPLETE)
        return false;
    make_nodes(engine);
    make_routers(engine);
    number_outlets(engine);
    if (engine->status != COMPLETE || !give_memory(engine))
        return false;
    check_routes(engine);
    make_sources(engine);
    make_queues(engine);
    make_vectors(engine);
    return engine->status == COMPLETE;
}

static void free_rooms(const struct node *node)
{
    for (int colour = 0; colour < node->engine->layout->colours; colour += 1) {
        const struct intake *intake = intake_of(node, colour);

        if (intake != NULL && intake->has_room)
            free(room_of(intake));
    }
}

void release(struct engine *engine)
{
    for (int32_t i = 0; engine->node != NULL && i < engine->size; i += 1) {
        if (engine->node[i].pe.memory != NULL)
            return_memory(&engine->node[i]);
        if (engine->queues != NULL)
            free_rooms(&engine->node[i]);
        free(engine->node[i].instruction);
        free(engine->node[i].stream);
        free(engine->node[i].activation);
    }
    for (int32_t i = 0; i < engine->routings; i += 1)
        free(engine->routing[i]);
    for (int actor = 0; actor < ACTORS; actor += 1) {
        free(engine->clock.agenda[actor].due);
        free(engine->clock.agenda[actor].some);
    }
    for (int i = 0; i < PERIODS; i += 1)
        free(engine->clock.later[i].item);
    release_vectors(engine);
    release_recorder(engine);
    free(engine->accesses);
    free(engine->binning);
    free(engine->queues);
    free(engine->routing);
    free(engine->outlet_count);
    free(engine->outlet_ends);
    free(engine->inlet_count);
    free(engine->source_of);
    free(engine->source);
    free(engine->outlet_of);
    free(engine->router);
    free(engine->node);
}
