/* From the layout to what the engine runs on: PEs, channels, sources and outlets. */
#include <stdlib.h>

#include "engine.h"
#include "guard.h"

static void *zeros(struct engine *engine, int64_t count, size_t size)
{
    void *items = calloc((size_t)(count > 0 ? count : 1), size);

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

static unsigned route(const struct engine *engine, int position, int colour, int side,
                      int32_t node)
{
    const struct layout *layout = engine->layout;
    const int64_t row = ((int64_t)position * layout->colours + colour) * SIDES + side;

    return layout->routes[row * engine->size + node];
}

static bool is_routed(const struct engine *engine, int colour, int side, int32_t node)
{
    for (int position = 0; position <= last_position(*switch_of(engine, node, colour));
         position += 1)
        if (route(engine, position, colour, side, node) != 0)
            return true;
    return false;
}

static void number_channels(struct engine *engine)
{
    for (int32_t node = 0; node < engine->size; node += 1) {
        engine->first_channel[node] = engine->channels;
        for (int colour = 0; colour < engine->layout->colours; colour += 1)
            for (int side = 0; side < SIDES; side += 1)
                if (is_routed(engine, colour, side, node))
                    engine->channel_of[slot_of(engine, node, side, colour)] =
                        engine->channels++;
    }
    engine->first_channel[engine->size] = engine->channels;
}

static int32_t target_of(struct engine *engine, const struct channel *channel, int side)
{
    const int32_t outlet = engine->outlet_of[slot_of(engine, channel->node, side,
                                                     channel->colour)];
    const struct pe *pe = &engine->node[channel->node].pe;
    int32_t target = -1;

    if (!is_outside(engine, channel->node, side))
        target = engine->channel_of[slot_of(engine,
                                            neighbour(engine, channel->node, side),
                                            (side + 2) % 4, channel->colour)];
    else if (outlet >= 0)
        return ~outlet;
    if (target < 0)
        fail(engine, "the route of %s at PE[%d, %d] goes on to the %s, where nothing takes it",
             engine->layout->colour_names[channel->colour], pe->x, pe->y,
             (const char *[]){ "north", "east", "south", "west" }[side]);
    return target;
}

/* How much a queue of the PE holds; -1 says `otherwise`, as does a router without a program. */
static int32_t depth_of(const struct engine *engine, const int32_t *depths,
                        const struct channel *channel, int32_t otherwise)
{
    const int32_t role = engine->node[channel->node].role;
    const int32_t depth = role < 0 ? -1 : depths[role * engine->layout->colours + channel->colour];

    return depth < 0 ? otherwise : depth;
}

static void make_intake(struct engine *engine, const struct channel *channel)
{
    const struct machine *machine = &engine->layout->machine;
    struct node *node = &engine->node[channel->node];

    node->intake[channel->colour].queue.capacity =
        depth_of(engine, engine->layout->input_depth, channel, machine->queue_depth)
        + latency(machine, RAMP);
    if (node->role < 0)
        fail(engine, "the route of %s goes down the ramp at PE[%d, %d], which has no program",
             engine->layout->colour_names[channel->colour], node->pe.x, node->pe.y);
}

static void check_copies(struct engine *engine, const struct channel *channel, unsigned sides)
{
    const struct pe *pe = &engine->node[channel->node].pe;

    if (!engine->layout->machine.multicast && sides & (sides - 1))
        fail(engine, "the route of %s at PE[%d, %d] goes to several sides; routers of this machine "
             "do not copy", engine->layout->colour_names[channel->colour], pe->x, pe->y);
}

static void connect(struct engine *engine, struct channel *channel)
{
    const int last = last_position(*switch_of(engine, channel->node, channel->colour));
    unsigned sides = 0;

    for (int position = 0; position <= last; position += 1) {
        channel->out[position] = (uint8_t)route(engine, position, channel->colour, channel->side,
                                                channel->node);
        sides |= channel->out[position];
        check_copies(engine, channel, channel->out[position]);
    }
    for (int side = 0; side < RAMP; side += 1)
        if (sides >> side & 1)
            channel->target[side] = target_of(engine, channel, side);
    if (sides >> RAMP & 1)
        make_intake(engine, channel);
}

/* The wavelets under way on a link come on top of the depth: full speed from depth 2 on. What a PE
 * sends waits in its own queue, then in the router's. */
static int32_t capacity_of(const struct engine *engine, const struct channel *channel)
{
    const struct machine *machine = &engine->layout->machine;
    const int32_t under_way = latency(machine, channel->side) - 1;
    const int32_t own = channel->side == RAMP
                      ? depth_of(engine, engine->layout->output_depth, channel, 0) : 0;

    return own + machine->queue_depth + (under_way > 0 ? under_way : 0);
}

static void make_channels(struct engine *engine)
{
    const int32_t colours = engine->layout->colours;

    for (int32_t slot = 0; slot < engine->size * SIDES * colours; slot += 1) {
        const int32_t i = engine->channel_of[slot];
        const int side = slot / colours % SIDES;

        if (i < 0)
            continue;
        engine->channel[i] = (struct channel){
            .queue = { .popped = -1 },
            .node = slot / colours / SIDES, .source = -1,
            .colour = (uint8_t)(slot % colours), .side = (uint8_t)side,
        };
        engine->channel[i].queue.capacity = capacity_of(engine, &engine->channel[i]);
        connect(engine, &engine->channel[i]);
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
        const int32_t channel = engine->channel_of[slot_of(engine, inlet->node, inlet->side,
                                                           inlet->colour)];

        if (i == 0 || !same_link(inlet - 1, inlet))
            engine->source[engine->sources++] = (struct source){ .first = i };
        engine->source[engine->sources - 1].inlets += 1;
        if (channel >= 0)
            engine->channel[channel].source = engine->sources - 1;
        else
            fail(engine, "%s arrives beside PE[%d, %d], where no route takes it",
                 layout->colour_names[inlet->colour], engine->node[inlet->node].pe.x,
                 engine->node[inlet->node].pe.y);
    }
}

static void number_outlets(struct engine *engine)
{
    const struct layout *layout = engine->layout;

    for (int32_t i = 0; i < layout->outlets; i += 1) {
        const struct outlet *outlet = &layout->outlet[i];

        engine->expected += outlet->ends > 0 ? outlet->ends : outlet->count;
        for (int colour = 0; colour < layout->colours; colour += 1)
            if (outlet->colours >> colour & 1)
                engine->outlet_of[slot_of(engine, outlet->node, outlet->side, colour)] = i;
    }
}

/* ---- PEs ------------------------------------------------------------------------------------- */

static void make_nodes(struct engine *engine)
{
    const struct layout *layout = engine->layout;

    for (int32_t i = 0; i < engine->size; i += 1) {
        struct node *node = &engine->node[i];

        node->id = i;
        node->engine = engine;
        node->role = layout->role[i];
        node->intake = &engine->intakes[(int64_t)i * layout->colours];
        node->moved = layout->colours - 1;
        node->sent = -1;
        node->pe.x = layout->west + i % layout->width;
        node->pe.y = layout->north + i / layout->width;
        node->pe.costs = &layout->machine.costs;
        node->pe.counters = &layout->counter[(int64_t)i * layout->counters];
        engine->running += node->role >= 0;
    }
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

static void give_parcels(struct engine *engine)
{
    const int64_t intakes = (int64_t)engine->size * engine->layout->colours;
    int64_t count = 0;

    for (int32_t i = 0; i < engine->channels; i += 1)
        count += engine->channel[i].queue.capacity;
    for (int64_t i = 0; i < intakes; i += 1)
        count += engine->intakes[i].queue.capacity;
    engine->parcels = zeros(engine, count, sizeof *engine->parcels);
    for (int32_t i = 0; i < engine->channels && engine->parcels != NULL; i += 1)
        engine->channel[i].queue.parcels =
            engine->parcels + (count -= engine->channel[i].queue.capacity);
    for (int64_t i = 0; i < intakes && engine->parcels != NULL; i += 1) {
        engine->intakes[i].queue.popped = -1;
        engine->intakes[i].queue.parcels =
            engine->parcels + (count -= engine->intakes[i].queue.capacity);
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void make_tables(struct engine *engine)
{
    const struct layout *layout = engine->layout;
    const int64_t size = engine->size, slots = size * SIDES * layout->colours;
    const int64_t actors[ACTORS] = { layout->inlets, size, size };

    engine->node = zeros(engine, size, sizeof *engine->node);
    engine->intakes = zeros(engine, size * layout->colours, sizeof *engine->intakes);
    engine->channel_of = filled(engine, slots, sizeof *engine->channel_of, 0xff);
    engine->outlet_of = filled(engine, slots, sizeof *engine->outlet_of, 0xff);
    engine->first_channel = zeros(engine, size + 1, sizeof *engine->first_channel);
    engine->turn = zeros(engine, size, sizeof *engine->turn);
    engine->switches = zeros(engine, size * layout->colours, sizeof *engine->switches);
    engine->source = zeros(engine, layout->inlets, sizeof *engine->source);
    engine->inlet_count = zeros(engine, layout->inlets, sizeof *engine->inlet_count);
    engine->outlet_count = zeros(engine, layout->outlets, sizeof *engine->outlet_count);
    engine->outlet_ends = zeros(engine, layout->outlets, sizeof *engine->outlet_ends);
    for (int actor = 0; actor < ACTORS; actor += 1) {
        engine->clock.asked[actor] = filled(engine, actors[actor], sizeof(int64_t), 0xff);
        engine->clock.looked_at[actor] = filled(engine, actors[actor], sizeof(int64_t), 0xff);
    }
}

/* Returns whether the engine can run; if not, it failed. */
bool build(struct engine *engine)
{
    engine->size = engine->layout->width * engine->layout->height;
    make_tables(engine);
    if (engine->status != COMPLETE)
        return false;
    memcpy(engine->switches, engine->layout->switches,
           (size_t)engine->size * (size_t)engine->layout->colours);
    make_nodes(engine);
    number_channels(engine);
    number_outlets(engine);
    engine->channel = zeros(engine, engine->channels, sizeof *engine->channel);
    if (engine->status != COMPLETE || !give_memory(engine))
        return false;
    make_channels(engine);
    make_sources(engine);
    give_parcels(engine);
    return engine->status == COMPLETE;
}

void release(struct engine *engine)
{
    for (int32_t i = 0; engine->node != NULL && i < engine->size; i += 1) {
        if (engine->node[i].pe.memory != NULL)
            return_memory(&engine->node[i]);
        free(engine->node[i].instruction);
        free(engine->node[i].activation);
    }
    for (int64_t i = 0; engine->intakes != NULL
         && i < (int64_t)engine->size * engine->layout->colours; i += 1) {
        free(engine->intakes[i].room);
        free(engine->intakes[i].entrance);
    }
    for (int actor = 0; actor < ACTORS; actor += 1) {
        free(engine->clock.asked[actor]);
        free(engine->clock.looked_at[actor]);
        for (int i = 0; i < HORIZON; i += 1)
            free(engine->clock.list[i][actor].id);
    }
    for (int i = 0; i < HORIZON; i += 1)
        free(engine->clock.later[i].item);
    free(engine->parcels);
    free(engine->channel);
    free(engine->outlet_count);
    free(engine->outlet_ends);
    free(engine->inlet_count);
    free(engine->source);
    free(engine->switches);
    free(engine->turn);
    free(engine->first_channel);
    free(engine->outlet_of);
    free(engine->channel_of);
    free(engine->intakes);
    free(engine->node);
}
