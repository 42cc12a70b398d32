/*
 * A scene of the sweep: a session of the library in the pocket ZooKeeper, holding one lock all the time, and a second
 * lock that the act is about. sweep() plays a scene once for every position at which something can fail, and looks
 * each time whether all promises were kept.
 */
#ifndef ZKLOCK_TEST_SCENE_H
#define ZKLOCK_TEST_SCENE_H

#include "failure/pocket.h"
#include "failure/world.h"
#include "zklock.h"

#define SCENE_PATH "/scene/lock"
/* Of an act about several locks. */
#define SCENE_SECOND "/scene/second"
#define SCENE_THIRD "/scene/third"
/* Of everything in an act that has one. */
enum { SCENE_LIMIT_MS = 5000 };

struct scene_plan {
    /* The world as the act finds it. Nothing fails yet. May be NULL. */
    void (*set)(void);
    /* Everything fails in its turn in here. */
    void (*act)(void);
    bool act_opens_session; /* there is none before */
    bool lock_dir_is_missing;
    bool session_ends;      /* so that the lock that is held all the time is lost */
    zklock_mode mode;       /* of the lock */
    zklock_style style;
    unsigned permits;
    bool has_several_paths;
    long most_distance; /* of the two failures of a pair; 0: every pair */
    /* What the act has begun without the lock of scene_make_lock() is ended. Nothing fails any more. May be NULL. */
    void (*end)(void);
};

struct scene {
    const struct scene_plan *plan;
    bool is_in_act;
    zklock_session *session; /* NULL: there was no memory for it */
    zklock *keeper;          /* what is held all the time */
    zklock *lock;            /* NULL: there was no memory for it */
    int started;             /* acquires that were begun */
    int ended;               /* and those of which the owner was told the end */
    int lost;
    int suspended;
    int resumed;
    int lines;               /* of the log */
};

extern struct scene scene;

/* Plays the scene for every position: for a failure, for spells of them, and for each pair. Asserts what it finds. */
void sweep(const struct scene_plan *plan);

/* Something is wrong: prints it with the position that failed. */
void scene_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A bit for each status. */
#define BIT(name) (1u << ZKLOCK_##name)
/* Short of memory or of threads, or what becomes of that at the limit. */
#define SHORTAGE (BIT(NO_MEMORY) | BIT(SYSTEM) | BIT(NO_SERVER) | BIT(TIMEOUT))

/* Where nothing has failed only the first will do; else the others, too. Whether it is the first. */
bool scene_expect(const char *what, zklock_status status, zklock_status wanted, unsigned tolerated);

/* ---- pieces of acts. They do nothing when what they need could not be made. */

void scene_open_session(void);
/* Of the lock, and of whatever the act makes itself. */
void scene_options(zklock_options *options);
void scene_make_lock(void);
/* Waits for the lock; whether it is held now. */
bool scene_acquire(void);
/* Begins to; whether it has begun. */
bool scene_begin(void);
/* The end of what was begun. */
void scene_await(zklock_status wanted, unsigned tolerated);
void scene_release(void);
/* A holder must be able to see its own node, under the number that its token says. */
void scene_look_at_node(zklock *lock, const char *path);

#endif
