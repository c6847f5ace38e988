/* Switches: the commands that control wavelets carry, and how a router obeys them. */
#include "engine.h"

/* ---- In a PE --------------------------------------------------------------------------------- */

static bool can_command(struct node *node, const struct commands *commands, int argument)
{
    const char *wrong = NULL;

    if (commands->count < 1 || commands->count > MAX_COMMANDS)
        wrong = "no commands, or too many";
    for (int32_t k = 0; wrong == NULL && k < commands->count; k += 1)
        if ((uint32_t)commands->command[k] > TEARDOWN)
            wrong = "a command that there is not";
    if (commands->count > 1 && argument != 0)
        wrong = "an argument beside several commands";
    if (argument < 0 || argument > UINT16_MAX)
        wrong = "an argument of more than 16 bits";
    if (wrong != NULL)
        fail(node->engine, "PE[%d, %d] (%s) makes a control wavelet with %s", x_of(node),
             y_of(node), node->engine->layout->programs[node->role]->name, wrong);
    return wrong == NULL;
}

int32_t control_word(struct pe *pe, struct commands commands, int argument, int quiet)
{
    int32_t bits = quiet ? QUIET : 0;

    if (!can_command((struct node *)pe, &commands, argument))
        return 0;
    bits |= (int32_t)commands.command[0] << FIRST;
    for (int32_t k = 1; k < commands.count; k += 1)
        bits |= LISTED | (int32_t)commands.command[k] << 2 * (k - 1);
    return bits | argument;
}

void send_control(struct pe *pe, int colour, struct commands commands, int argument, int quiet)
{
    const int32_t word = control_word(pe, commands, argument, quiet);

    issue_wavelet((struct node *)pe, colour, (uint32_t)word, CONTROL);
}

void send_end(struct pe *pe, int colour)
{
    send_control(pe, colour, COMMANDS(NOP), 0, 0);
}

void send_turn(struct pe *pe, int colour, int last)
{
    send_control(pe, colour, COMMANDS(last ? RESET : ADVANCE), 0, 1);
}

/* ---- What was torn down ---------------------------------------------------------------------- */

void on_teardown(struct pe *pe, task *reaction)
{
    ((struct node *)pe)->torn_down = reaction;
}

int is_torn_down(struct pe *pe, int colour)
{
    struct node *node = (struct node *)pe;

    return is_colour(node, colour) && is_down(*switch_of(node->engine, node->id, colour));
}

static bool can_restart(struct node *node, int colour, int position)
{
    const struct layout *layout = node->engine->layout;
    uint8_t switched;

    if (!is_colour(node, colour))
        return false;
    switched = *switch_of(node->engine, node->id, colour);
    if (!is_down(switched))
        fail(node->engine, "PE[%d, %d] (%s) restarts %s, which is not torn down there", x_of(node),
             y_of(node), layout->programs[node->role]->name, layout->colour_names[colour]);
    else if (position < 0 || position > last_position(switched))
        fail(node->engine, "PE[%d, %d] (%s) restarts %s in position %d, which its router does not "
             "have", x_of(node), y_of(node), layout->programs[node->role]->name,
             layout->colour_names[colour], position);
    return node->engine->status == COMPLETE;
}

/* When the task has come to it, whatever the PE's streams wait for. */
void restart_colour(struct pe *pe, int colour, int position)
{
    struct node *node = (struct node *)pe;

    if (can_restart(node, colour, position))
        issue(node, (struct instruction){ .kind = RESTART, .in = -1, .out = -1 },
              (struct stream){ .bits = (uint32_t)colour | (uint32_t)position << 8, .left = 1 },
              present(node));
}

void let_go_on(struct node *node, int colour, uint32_t position)
{
    uint8_t *switched = switch_of(node->engine, node->id, colour);

    *switched = (uint8_t)((*switched & ~(1u << DOWN | 3u << POSITION)) | position << POSITION);
    wake(node->engine, ROUTERS, node->id, node->engine->now);
}

/* The PE learns of it as of what comes down the ramp. */
static void tear_down(struct engine *engine, struct node *node, int colour,
                      const struct parcel *parcel)
{
    *switch_of(engine, node->id, colour) |= 1u << DOWN;
    engine->torn_down = true;
    if (node->torn_down == NULL)
        return;
    record_torn_down(node, colour, parcel);
    activate_at(node, node->torn_down, engine->now + engine->layout->machine.ramp + 1);
}

/* ---- In a router ----------------------------------------------------------------------------- */

static uint8_t reset(uint8_t switched)
{
    return (uint8_t)(switched & ~(3u << POSITION));
}

static uint8_t advanced(uint8_t switched)
{
    if (position_of(switched) < last_position(switched))
        return (uint8_t)(switched + (1u << POSITION));
    return switched >> RING & 1 ? reset(switched) : switched;
}

/* The wavelet without its first command; with the last one its argument goes, too. */
uint32_t popped(uint32_t bits)
{
    const uint32_t following = bits & LISTED ? bits & UINT16_MAX : 0;

    return (bits & (QUIET | LISTED)) | (following & 3) << FIRST | following >> 2;
}

/* What is left of a control wavelet when the router has obeyed its first command. */
static uint32_t obeyed(struct engine *engine, int32_t node, int colour,
                       const struct parcel *parcel)
{
    const uint32_t bits = parcel->bits;
    uint8_t *switched = switch_of(engine, node, colour);
    const enum command command = bits >> FIRST & 3;
    const uint8_t before = *switched;
    const int mode = before >> POP & 3;

    if (command == ADVANCE)
        *switched = advanced(before);
    else if (command == RESET)
        *switched = reset(before);
    else if (command == TEARDOWN)
        tear_down(engine, &engine->node[node], colour, parcel);
    if (mode == ALWAYS_POP
        || (mode >= POP_ON_ADVANCE && command == ADVANCE && *switched != before)
        || (mode == POP_ON_ADVANCE_NOP && command == NOP))
        return popped(bits);
    return bits;
}

/* Obey what goes on and says something: a command, or that the switch advances behind it. */
void obey(struct engine *engine, int32_t node, int colour, struct parcel *parcel)
{
    uint8_t *switched = switch_of(engine, node, colour);
    const uint8_t before = *switched;

    if (parcel->control & CONTROL)
        parcel->bits = obeyed(engine, node, colour, parcel);
    if (parcel->control & TURNING)
        *switched = advanced(*switched);
    parcel->control &= CONTROL;
    if (*switched != before)
        wake(engine, ROUTERS, node, engine->now + 1);
}
