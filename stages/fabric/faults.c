/* Faults of programs: signals, and tasks without an end, are errors of the task at work.
 *
 * A run has one place to come back to. Whatever a task does that the processor refuses, or that the
 * engine does, leaves the task for that place; what the task had begun stays as it is, and the run is
 * over. The handlers that were there before are there again afterwards. Only one run at a time of a
 * process may have them: the driver sees to that.
 */
#define _XOPEN_SOURCE 700
#ifdef __APPLE__
#define _DARWIN_C_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

#include "engine.h"

/* A sanitizer says itself what a program does wrong, and holds locks meanwhile: who left a task then
 * would leave it in the middle. */
#ifdef __SANITIZE_ADDRESS__
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

enum { SIGNALS = 5, TICKS = 8, STACK_SIZE = 1 << 16, FIRST_PAGE = 4096, GUARD_SIZE = 1 << 20 };
enum way_back { BEGINS, LEFT, FAULTY, ENDLESS };

static const int signals[SIGNALS] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };

static struct {
    sigjmp_buf back;
    struct engine *volatile engine;            /* NULL: there is no run */
    pthread_t thread;
    atomic_int elsewhere;                      /* other threads that hand a tick on */
    volatile sig_atomic_t held, late, number, code;
    const char *volatile address;
    const char *base;                          /* of the stack of the run, which grows downwards */
    const struct node *at_work;                /* at the last tick; since then it had this time, */
    int64_t tasks, since;                      /* after so many tasks */
    struct sigaction before[SIGNALS], ticks_before;
    struct itimerval timer_before;
    stack_t stack_before;
    sigset_t mask_before;
    char stack[STACK_SIZE];
} trap;

/* ---- Time ------------------------------------------------------------------------------------ */

static int64_t now_used(void)
{
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * (int64_t)1000000 + used.tv_nsec / 1000;
}

/* Whether the task at work, if there is one, was so at the first tick that is `task_limit` ago. */
static bool is_endless(const struct engine *engine)
{
    if (engine->at_work != NULL && engine->at_work == trap.at_work
        && engine->outcome->tasks == trap.tasks)
        return now_used() - trap.since >= engine->layout->task_limit;
    trap.at_work = engine->at_work;
    trap.tasks = engine->outcome->tasks;
    trap.since = now_used();
    return false;
}

/* The processor's time of the process goes on. The tick may come to any of its threads. */
static void on_tick(int number)
{
    const struct engine *engine = trap.engine;

    if (engine == NULL)
        return;
    if (!pthread_equal(pthread_self(), trap.thread)) {
        atomic_fetch_add(&trap.elsewhere, 1);
        if (trap.engine != NULL)
            pthread_kill(trap.thread, number);
        atomic_fetch_sub(&trap.elsewhere, 1);
        return;
    }
    if (!is_endless(engine))
        return;
    if (trap.held > 0)
        trap.late = 1;
    else
        siglongjmp(trap.back, ENDLESS);
}

static void set_timer(int64_t every)
{
    const struct timeval each = { .tv_sec = every / 1000000, .tv_usec = (int)(every % 1000000) };
    const struct itimerval timer = { .it_interval = each, .it_value = each };

    setitimer(ITIMER_VIRTUAL, &timer, &trap.timer_before);
}

/* Between these no task is left: memory is being given. */
void hold(void)
{
    trap.held += 1;
}

void let_go(void)
{
    trap.held -= 1;
    if (trap.held == 0 && trap.late && trap.engine != NULL)
        siglongjmp(trap.back, ENDLESS);
}

/* ---- Signals --------------------------------------------------------------------------------- */

/* Who else's fault it is: as if there were no handler here. */
static void hand_on(int number, const siginfo_t *info)
{
    for (int i = 0; i < SIGNALS; i += 1)
        if (signals[i] == number)
            sigaction(number, &trap.before[i], NULL);
    if (info->si_code <= 0)                    /* somebody sent it */
        raise(number);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (trap.engine == NULL || info->si_code <= 0
        || !pthread_equal(pthread_self(), trap.thread)) {
        hand_on(number, info);
        return;
    }
    trap.number = number;
    trap.code = info->si_code;
    trap.address = info->si_addr;
    siglongjmp(trap.back, FAULTY);
}

static void catch_signals(int64_t every)
{
    struct sigaction fault = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    struct sigaction tick = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
    const stack_t stack = { .ss_sp = trap.stack, .ss_size = sizeof trap.stack };
    sigset_t ticks;

    sigemptyset(&fault.sa_mask);
    sigaddset(&fault.sa_mask, SIGVTALRM);
    sigemptyset(&tick.sa_mask);
    sigemptyset(&ticks);
    sigaddset(&ticks, SIGVTALRM);
    sigaltstack(&stack, &trap.stack_before);
    for (int i = 0; i < SIGNALS; i += 1)
        sigaction(signals[i], &fault, &trap.before[i]);
    sigaction(SIGVTALRM, &tick, &trap.ticks_before);
    pthread_sigmask(SIG_UNBLOCK, &ticks, &trap.mask_before);
    if (every > 0)
        set_timer(every);
}

/* A tick that is under way is dropped, or what was there before would have it. */
static void leave_signals(int64_t every)
{
    struct sigaction dropped = { .sa_handler = SIG_IGN };

    trap.engine = NULL;
    sigemptyset(&dropped.sa_mask);
    if (every > 0)
        setitimer(ITIMER_VIRTUAL, &(struct itimerval){ .it_value = { 0 } }, NULL);
    sigaction(SIGVTALRM, &dropped, NULL);
    while (atomic_load(&trap.elsewhere) > 0)
        sched_yield();
    sigaction(SIGVTALRM, &trap.ticks_before, NULL);
    if (every > 0)
        setitimer(ITIMER_VIRTUAL, &trap.timer_before, NULL);
    for (int i = 0; i < SIGNALS; i += 1)
        sigaction(signals[i], &trap.before[i], NULL);
    sigaltstack(&trap.stack_before, NULL);
    pthread_sigmask(SIG_SETMASK, &trap.mask_before, NULL);
}

/* ---- What is said ---------------------------------------------------------------------------- */

/* Where its stack has an end there is a fault below all that the run uses of it. */
static bool is_below_stack(const char *address)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    return address < trap.base
        && trap.base - address < (ptrdiff_t)limit.rlim_cur + GUARD_SIZE;
}

static const char *name_fault(void)
{
    switch (trap.number) {
    case SIGFPE: return "divided an integer by zero, or the least one by -1,";
    case SIGILL: case SIGTRAP: return "did what C leaves undefined,";
    default: break;
    }
    if (is_below_stack(trap.address))
        return "had no stack left: functions call each other without an end,";
    if ((uintptr_t)trap.address < FIRST_PAGE && trap.code <= SEGV_ACCERR)
        return "touched memory through a pointer that is NULL";
    return "touched memory that is not its own";
}

static void tell(struct engine *engine, enum way_back way)
{
    struct node *node = engine->at_work;

    engine->at_work = NULL;                    /* or `fail` would come back here */
    if (way == ENDLESS)
        fail(engine, "PE[%d, %d] (%s) has had the processor for %g seconds, and did not come to an "
             "end, in %s", x_of(node), y_of(node), role_name(node),
             (double)engine->layout->task_limit / 1e6, describe_task(node).text);
    else if (way == FAULTY && node != NULL)
        fail(engine, "PE[%d, %d] (%s) %s in %s", x_of(node), y_of(node), role_name(node),
             name_fault(), describe_task(node).text);
    else if (way == FAULTY)
        fail(engine, "after cycle %lld the simulator touched memory that is not its own, or did not "
             "go on: a program has written there", (long long)engine->now);
}

/* ---- A run ----------------------------------------------------------------------------------- */

/* The task at work failed: nothing more of it runs. */
void leave_task(const struct engine *engine)
{
    if (engine == trap.engine && engine->at_work != NULL)
        siglongjmp(trap.back, LEFT);
}

static void go(struct engine *engine, void (*run)(struct engine *engine))
{
    const int way = sigsetjmp(trap.back, 1);

    if (way == BEGINS)
        run(engine);
    else
        tell(engine, (enum way_back)way);
    engine->at_work = NULL;
    engine->damaged = way == FAULTY && trap.number != SIGFPE;
}

/* Run all of a fabric, whatever its programs do. */
void run_guarded(struct engine *engine, void (*run)(struct engine *engine))
{
    const int64_t limit = engine->layout->task_limit;
    const int64_t every = limit > 0 && limit < TICKS ? 1 : limit / TICKS;
    const char here = 0;

    trap.held = trap.late = 0;
    trap.at_work = NULL;
    trap.base = &here;
    trap.thread = pthread_self();
    trap.engine = engine;
    if (!IS_SANITIZED)
        catch_signals(every);
    go(engine, run);
    if (!IS_SANITIZED)
        leave_signals(every);
    trap.engine = NULL;
}
