/* What a place of a fabric that stops waits for, by what it has and what it lacks. */
#include "waiting.h"

/* ---- Places ---------------------------------------------------------------------------------- */

static int64_t place_of(int32_t node, int number)
{
    return (int64_t)node * PLACES + number;
}

static void add(struct wait *wait, int32_t node, int number)
{
    if (wait->count < MAX_WAITS)
        wait->on[wait->count++] = place_of(node, number);
}

const struct channel *channel_at(const struct engine *engine, int64_t place)
{
    return &engine->router[node_at(place)].routing->channel[number_at(place)];
}

/* -1 of a PE as a whole. */
int colour_at(const struct engine *engine, int64_t place)
{
    if (number_at(place) == WHOLE_PE)
        return -1;
    return is_channel(place) ? channel_at(engine, place)->colour
                             : (number_at(place) - INTAKE_PLACES) % MAX_COLOURS;
}

/* The external link from which a channel comes; NULL if it comes from elsewhere. */
const struct source *source_at(const struct engine *engine, int64_t place)
{
    const int32_t node = node_at(place);
    const int side = channel_at(engine, place)->side;
    int32_t number = -1;

    if (side != RAMP && is_outside(engine, node, side))
        number = engine->source_of[number_border(engine, node, side)];
    return number >= 0 ? &engine->source[number] : NULL;
}

/* ---- Routers --------------------------------------------------------------------------------- */

static bool is_open(const struct engine *engine, int32_t node, const struct channel *channel,
                    unsigned sides)
{
    const uint8_t switched = *switch_of(engine, node, channel->colour);

    return !is_down(switched) && channel->out[position_of(switched)] & sides;
}

/* Whether a channel may bring something to a side, by what is asked first: has it wavelets that go
 * there or that nothing but a turn lets go on; does it go there now; in any position. */
static bool brings(const struct engine *engine, int32_t node, const struct channel *channel,
                   int side, int asked)
{
    const bool goes = is_open(engine, node, channel, 1u << side);

    if (asked == 0)
        return queue_of(&engine->router[node], channel)->count > 0
            && (goes || !is_open(engine, node, channel, ~0u));
    return goes || asked > 1;
}

/* What brings a colour to a side of a router. */
void feed(const struct engine *engine, int32_t node, int side, int colour, struct wait *wait)
{
    const struct routing *routing = engine->router[node].routing;
    const int32_t before = wait->count;

    for (int asked = 0; asked < 3 && wait->count == before; asked += 1)
        for (int32_t k = 0; k < routing->channels; k += 1) {
            const struct channel *channel = &routing->channel[k];

            if (channel->colour == colour && channel->sides >> side & 1
                && brings(engine, node, channel, side, asked))
                add(wait, node, CHANNEL_PLACES + k);
        }
    wait->any = wait->count > before + 1;
}

/* An empty queue: who fills it? */
static void wait_upstream(struct engine *engine, int64_t place, struct wait *wait)
{
    const int32_t node = node_at(place);
    const struct channel *channel = channel_at(engine, place);
    const struct source *source = source_at(engine, place);

    wait->kind = EMPTY;
    if (channel->side == RAMP) {
        add(wait, node, SEND_PLACES + channel->colour);
    } else if (!is_outside(engine, node, channel->side)) {
        feed(engine, node + engine->step[channel->side], (channel->side + 2) % 4, channel->colour,
             wait);
    } else {
        wait->kind = SENT_ALL;
        for (int32_t i = 0; source != NULL && i < source->inlets; i += 1)
            if (engine->layout->inlet[source->first + i].colour == channel->colour
                && engine->inlet_count[source->first + i]
                   < engine->layout->inlet[source->first + i].total)
                wait->kind = MOVES;
    }
}

/* The switch has turned to other sides: what comes from there may turn it again. */
static void wait_for_turn(const struct engine *engine, int64_t place, struct wait *wait)
{
    const int32_t node = node_at(place);
    const struct routing *routing = engine->router[node].routing;

    wait->kind = TURNED;
    for (int32_t k = 0; k < routing->channels; k += 1)
        if (routing->channel[k].colour == channel_at(engine, place)->colour
            && is_open(engine, node, &routing->channel[k], ~0u))
            add(wait, node, CHANNEL_PLACES + k);
    wait->any = wait->count > 1;
}

/* The sides to which a head has to go that have no space. */
static void wait_downstream(struct engine *engine, int64_t place, const struct parcel *head,
                            struct wait *wait)
{
    const int32_t node = node_at(place);
    const struct channel *channel = channel_at(engine, place);
    const int colour = channel->colour;
    const uint8_t switched = *switch_of(engine, node, colour);

    for (unsigned wanted = channel->out[position_of(switched)]; wanted != 0; wanted &= wanted - 1) {
        const int side = __builtin_ctz(wanted);

        if ((side == RAMP && !goes_down(engine, node, colour, head))
            || accepts(engine, node, colour, side))
            continue;
        if (side == RAMP) {
            add(wait, node, INTAKE_PLACES + colour);
        } else {
            const int32_t next = node + engine->step[side];

            add(wait, next, CHANNEL_PLACES + channel_of(engine, next, (side + 2) % 4, colour));
        }
    }
    wait->kind = wait->count > 0 ? FULL : MOVES;
}

static void wait_in_channel(struct engine *engine, int64_t place, struct wait *wait)
{
    const int32_t node = node_at(place);
    const struct channel *channel = channel_at(engine, place);
    const struct queue *queue = queue_of(&engine->router[node], channel);
    const struct parcel *head = first_ready(queue, engine->now);

    if (queue->count == 0)
        wait_upstream(engine, place, wait);
    else if (head == NULL)
        wait->kind = MOVES;
    else if (is_down(*switch_of(engine, node, channel->colour)))
        wait->kind = TORN_DOWN;
    else if (!is_open(engine, node, channel, ~0u))
        wait_for_turn(engine, place, wait);
    else
        wait_downstream(engine, place, head, wait);
}

/* ---- PEs ------------------------------------------------------------------------------------- */

/* The instruction that is the first to take from a colour, or to send on it; NULL if none does. */
const struct instruction *first_on(const struct node *node, int colour, bool in)
{
    for (int32_t i = 0; i < node->instructions; i += 1)
        if ((in ? node->instruction[i].in : node->instruction[i].out) == colour)
            return &node->instruction[i];
    return NULL;
}

/* Whether no thread is left for a task. */
bool is_crowded(const struct node *node)
{
    return node->instructions - node->endless + node->fifos
        >= node->engine->layout->machine.threads;
}

static bool is_at_work(const struct node *node)
{
    return node->engine->now < node->busy_until
        || (node->activations > 0 && !is_crowded(node));
}

/* The instructions under way, those that wait for earlier ones on their colours left out. */
static void add_instructions(const struct node *node, struct wait *wait)
{
    for (int32_t i = 0; i < node->instructions; i += 1) {
        const struct instruction *instruction = &node->instruction[i];

        if (instruction->endless)
            continue;
        if (instruction->in >= 0 && first_on(node, instruction->in, true) == instruction)
            add(wait, node->id, INTAKE_PLACES + instruction->in);
        else if (instruction->in < 0 && instruction->out >= 0
                 && first_on(node, instruction->out, false) == instruction)
            add(wait, node->id, SEND_PLACES + instruction->out);
    }
}

/* The colours to which a task reacts, but for one: what comes may bring the PE on. */
static void add_any_reaction(const struct node *node, int but, struct wait *wait)
{
    for (int colour = 0; colour < node->engine->layout->colours; colour += 1) {
        struct intake *intake = intake_of(node, colour);

        if (intake != NULL && colour != but && !intake->blocked && waiting_in(intake)->count == 0
            && (intake->data != NULL || intake->control != NULL))
            add(wait, node->id, INTAKE_PLACES + colour);
    }
    wait->any = wait->count > 1;
}

/* What is at the head of a stream that receives: it lacks space, or is no element. */
static void wait_in_stream(const struct node *node, const struct instruction *instruction,
                           const struct parcel *head, struct wait *wait)
{
    const int out = sends_on(node, instruction);
    const int32_t id = node->id;

    wait->kind = MOVES;
    if (head->control && !instruction->endless) {
        wait->kind = HEADED;
    } else if (instruction->out >= 0 && first_on(node, instruction->out, false) != instruction) {
        wait->kind = BEHIND;
        add(wait, id, SEND_PLACES + instruction->out);
    } else if (out >= 0 && node->full >> out & 1) {
        wait->kind = LACKS_SPACE;
        add(wait, id, CHANNEL_PLACES + channel_of(node->engine, id, RAMP, out));
    }
}

/* What no stream receives, and no task takes. */
static void wait_for_task(const struct node *node, int colour, const struct parcel *head,
                          struct wait *wait)
{
    const struct intake *intake = intake_of(node, colour);
    const bool taken = (head->control ? intake->control : intake->data) != NULL;

    wait->kind = is_crowded(node) ? CROWDED : MOVES;
    if (is_at_work(node))
        wait->kind = MOVES;
    else if (!taken || intake->blocked)
        wait->kind = taken ? IS_BLOCKED : NOT_TAKEN;
    else if (intake->passes && node->full >> intake->out & 1)
        wait->kind = NOT_FORWARDED;
    if (wait->kind == NOT_FORWARDED)
        add(wait, node->id, CHANNEL_PLACES + channel_of(node->engine, node->id, RAMP, intake->out));
    else if (wait->kind != MOVES)
        add_instructions(node, wait);
    if (wait->kind == CROWDED)
        wait->any = wait->count > 1;
    else if (wait->count == 0 && (wait->kind == IS_BLOCKED || wait->kind == NOT_TAKEN))
        add_any_reaction(node, colour, wait);
}

static void wait_in_intake(struct engine *engine, int64_t place, struct wait *wait)
{
    const struct node *node = &engine->node[node_at(place)];
    const int colour = colour_at(engine, place);
    struct intake *intake = intake_of(node, colour);
    const struct instruction *instruction = first_on(node, colour, true);
    const struct queue *queue = waiting_in(intake);
    const struct parcel *head = first_ready(queue, engine->now);

    if (queue->count > 0 && head == NULL)
        wait->kind = MOVES;
    else if (head != NULL && instruction != NULL)
        wait_in_stream(node, instruction, head, wait);
    else if (head != NULL)
        wait_for_task(node, colour, head, wait);
    else if (node->filled >> colour & 1 && room_of(intake)->entrance->count > 0)
        wait->kind = MOVES;
    else
        feed(engine, node->id, RAMP, colour, wait);
    if (wait->kind == FOLLOWS)
        wait->kind = instruction != NULL ? RECEIVES : REACTS;
}

static void add_forwarded(const struct node *node, int out, struct wait *wait)
{
    for (int colour = 0; colour < node->engine->layout->colours; colour += 1) {
        const struct intake *intake = intake_of(node, colour);

        if (intake != NULL && intake->passes && intake->out == out)
            add(wait, node->id, INTAKE_PLACES + colour);
    }
    wait->any = wait->count > 1;
}

/* A PE that sends nothing on a colour. */
static void wait_to_send(struct engine *engine, int64_t place, struct wait *wait)
{
    const struct node *node = &engine->node[node_at(place)];
    const int colour = colour_at(engine, place);
    const struct instruction *instruction = first_on(node, colour, false);

    if (instruction != NULL && instruction->in >= 0) {
        add(wait, node->id, INTAKE_PLACES + instruction->in);
    } else if (instruction != NULL && node->full >> colour & 1) {
        wait->kind = LACKS_SPACE;
        add(wait, node->id, CHANNEL_PLACES + channel_of(engine, node->id, RAMP, colour));
    } else if (instruction != NULL) {
        wait->kind = MOVES;
    } else {
        add_forwarded(node, colour, wait);
        if (wait->count == 0)
            add(wait, node->id, WHOLE_PE);
    }
}

/* What came, and is not taken; or only that which tasks would take if they had a thread. */
static void add_left(const struct node *node, bool only_crowded, struct wait *wait)
{
    for (int colour = 0; colour < node->engine->layout->colours; colour += 1) {
        struct intake *intake = intake_of(node, colour);
        struct wait left = { .count = 0 };

        if (intake == NULL || waiting_in(intake)->count == 0)
            continue;
        find_waits(node->engine, place_of(node->id, INTAKE_PLACES + colour), &left);
        if (!only_crowded || left.kind == CROWDED)
            add(wait, node->id, INTAKE_PLACES + colour);
    }
}

/* A PE that does nothing: for threads, its instructions, what it does not take, what may come. */
static void wait_as_a_whole(struct engine *engine, int64_t place, struct wait *wait)
{
    const struct node *node = &engine->node[node_at(place)];

    if (is_at_work(node)) {
        wait->kind = MOVES;
        return;
    }
    add_left(node, true, wait);
    if (wait->count == 0)
        add_instructions(node, wait);
    if (wait->count == 0)
        add_left(node, false, wait);
    if (wait->count == 0 && node->activations > 0)
        wait->kind = CROWDED;
    else if (wait->count == 0)
        add_any_reaction(node, -1, wait);
    if (wait->count == 0 && wait->kind == FOLLOWS)
        wait->kind = node->role >= 0 && node->invocations >= engine->layout->invocations
                   ? IS_DONE : NOT_ACTIVATED;
}

void find_waits(struct engine *engine, int64_t place, struct wait *wait)
{
    const int number = number_at(place);

    wait->kind = FOLLOWS;
    wait->any = false;
    wait->count = 0;
    if (number < INTAKE_PLACES)
        wait_in_channel(engine, place, wait);
    else if (number < SEND_PLACES)
        wait_in_intake(engine, place, wait);
    else if (number < WHOLE_PE)
        wait_to_send(engine, place, wait);
    else
        wait_as_a_whole(engine, place, wait);
}
