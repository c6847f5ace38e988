/* What is recorded of a run, where the engine is compiled with RECORDED: else all of this is nothing.
 *
 * What happens has one thing for which it waited last: the task before it on its PE, the wavelet that
 * started it, the element before it in its stream. A moment is a time until which a PE, a port or a
 * wavelet did one thing, after another moment; so moments lead from the last output back to the first
 * arrival, without a gap: that is the critical path. Those that nothing under way comes after are
 * forgotten.
 */
#ifndef RECORDER_H
#define RECORDER_H

/* What happened until a moment: a port sent what came before; a wavelet was on links and ramps, or
 * waited in routers; a task ran; streams moved elements; an instruction started; another stream had
 * the datapath, or the ramp; a PE waited, as its state says, WAITED + enum state. */
enum deed { PORT, LINKS, ROUTERS_FULL, TASK, STREAM, STARTED, DATAPATH, WAITED };

/* A part of the critical path, and of a task what its cycles went into; the rest started things. */
struct segment {
    int32_t node, begin, end, deed, colour, name;
    int32_t computing, memory, scalars, datapath;
};

/* What an event is: a task; a vector instruction in one; a stream from its first cycle to its last; a
 * wait, WAITING with the state as colour; a wavelet that starts a task, where it was sent; how
 * many wavelets wait in a queue, as `duration`. */
enum event_kind { TASK_RAN, VECTOR_RAN, STREAMED, WAITING, SENT, QUEUED };

struct event {
    int32_t node, begin, duration, kind, colour, name, flow;
};

/* What of one name happened on all PEs: how often, from its first cycle to before its last one, and the
 * cycles of all together, those of a wavelet none. */
struct phase {
    int64_t count, cycles;
    int32_t begin, end;
};

/* What Python asks for, and gets: the path, events of PEs in some cycles, and the phases of tasks, by
 * role and name, 0 for those without one, then by colour of what entered, and of what left.
 * `segments`, `events` and `names` are how many there are; only as many are kept as there is space
 * for. */
struct record {
    const uint8_t *asked;                      /* [node], NULL: no events */
    int64_t from, to;
    struct segment *segment;
    struct event *event;
    struct phase *task;                        /* [role][1 + name_space] */
    struct phase *entered, *left;              /* [colour] */
    const char **name;                         /* what `name` of those counts in */
    int64_t segments, segment_space, events, event_space, names, name_space;
};

#ifdef RECORDED
/* Of a wavelet: it was sent after a moment, in a cycle, and waited so long in routers. Of a stream:
 * after which moment it moves, that at which the last one before it on its colours was complete, its
 * first and last cycle, and the name of its vector. Of an activation: after which moment the task is
 * to run. */
struct trail {
    int32_t moment, sent, waited;
};
#define TRAIL struct trail trail;
#define STEPS int32_t before, behind, first, last, name;
#define AFTER int32_t after;
#else
#define TRAIL
#define STEPS
#define AFTER
#endif

#endif
