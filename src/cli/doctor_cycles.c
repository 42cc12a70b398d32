/*
 * Who waits for whom, as a graph of sessions, and the rings in it. A waiter waits for the holder, and for the one right
 * ahead, who waits for the next: all others follow from that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

enum { TEXT_SIZE = 1800, NAME_SIZE = 200 };

struct wish {
    size_t to; /* index of a node */
    const char *path;
    bool is_held; /* by `to`; else it is ahead in the queue */
};

struct node {
    int64_t session_id;
    const zklock_contender *contender; /* one of its own, for the name */
    struct wish *wishes;
    size_t wish_count;
    size_t next_wish; /* of the walk */
    enum { UNSEEN, ON_TRAIL, DONE } mark;
};

struct graph {
    struct node *nodes;
    size_t count;
    size_t *trail; /* the nodes from the start of the walk to here */
    size_t trail_count;
};

static int compare_nodes(const void *left, const void *right)
{
    int64_t a = ((const struct node *)left)->session_id;
    int64_t b = ((const struct node *)right)->session_id;

    return (a > b) - (a < b);
}

static size_t find_node(const struct graph *graph, int64_t session_id)
{
    const struct node key = {.session_id = session_id};
    const struct node *found = bsearch(&key, graph->nodes, graph->count, sizeof(key), compare_nodes);

    return (size_t)(found - graph->nodes);
}

/* One node a session that owns a contender. False: no memory. */
static bool collect_nodes(const struct survey *survey, struct graph *graph)
{
    size_t total = 0;
    size_t used = 0;

    for (size_t i = 0; i < survey->paths->count; i++)
        total += survey->queues[i] ? survey->queues[i]->count : 0;
    graph->nodes = calloc(total + 1, sizeof(*graph->nodes));
    graph->trail = calloc(total + 1, sizeof(*graph->trail));
    if (!graph->nodes || !graph->trail)
        return false;
    for (size_t i = 0; i < survey->paths->count; i++) {
        const zklock_queue *queue = survey->queues[i];

        for (size_t at = 0; queue && at < queue->count; at++) {
            graph->nodes[used].session_id = queue->contenders[at]->session_id;
            graph->nodes[used++].contender = queue->contenders[at];
        }
    }
    qsort(graph->nodes, used, sizeof(*graph->nodes), compare_nodes);
    for (size_t i = 0; i < used; i++) {
        if (i == 0 || graph->nodes[i].session_id != graph->nodes[graph->count - 1].session_id)
            graph->nodes[graph->count++] = graph->nodes[i];
    }
    return true;
}

/* Threads of one session may well wait for each other: that is no ring. False: no memory. */
static bool add_wish(struct graph *graph, const zklock_contender *from, const zklock_contender *to, const char *path)
{
    struct node *node = &graph->nodes[find_node(graph, from->session_id)];
    struct wish *wishes;

    if (from->session_id == to->session_id || to->session_id == 0)
        return true;
    wishes = realloc(node->wishes, (node->wish_count + 1) * sizeof(*wishes));
    if (!wishes)
        return false;
    node->wishes = wishes;
    wishes[node->wish_count++] = (struct wish){find_node(graph, to->session_id), path, to->is_holder};
    return true;
}

/* Who waits for a permit waits for any of those that hold one: that ties nobody, unless there is one only. */
static bool add_queue(struct graph *graph, const char *path, const zklock_queue *queue)
{
    bool any_will_do = queue->is_semaphore && queue->count > 1 && queue->contenders[1]->is_holder;

    for (size_t i = 1; i < queue->count; i++) {
        const zklock_contender *waiter = queue->contenders[i];
        const zklock_contender *ahead = queue->contenders[i - 1];

        if (waiter->is_holder)
            continue;
        if (!any_will_do && !add_wish(graph, waiter, queue->contenders[0], path))
            return false;
        if (i > 1 && !(any_will_do && ahead->is_holder) && !add_wish(graph, waiter, ahead, path))
            return false;
    }
    return true;
}

/* "A holds X, waits for Y held by B; B holds Y, waits for X held by A" */
static void report(const struct graph *graph, size_t first, json_t *findings)
{
    const struct node *last = &graph->nodes[graph->trail[graph->trail_count - 1]];
    const struct wish *before = &last->wishes[last->next_wish - 1];
    char text[TEXT_SIZE] = "";
    size_t used = 0;

    for (size_t i = first; i < graph->trail_count && used < sizeof(text); i++) {
        const struct node *node = &graph->nodes[graph->trail[i]];
        const struct wish *wish = &node->wishes[node->next_wish - 1];
        char name[NAME_SIZE];
        char other[NAME_SIZE];

        doctor_name(node->contender, name, sizeof(name));
        doctor_name(graph->nodes[wish->to].contender, other, sizeof(other));
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s %s, waits for %s %s %s",
                                 i > first ? "; " : "", name, before->is_held ? "holds" : "queues for", before->path,
                                 wish->path, wish->is_held ? "held by" : "behind", other);
        before = wish;
    }
    doctor_add(findings, "cycle", NULL, "%s", text);
}

static size_t place_on_trail(const struct graph *graph, size_t node)
{
    size_t place = 0;

    while (graph->trail[place] != node)
        place++;
    return place;
}

/* Depth first, without recursion. Each ring is met where it closes; one of each knot of rings is enough. */
static void walk_from(struct graph *graph, size_t start, json_t *findings)
{
    graph->trail_count = 0;
    graph->trail[graph->trail_count++] = start;
    graph->nodes[start].mark = ON_TRAIL;
    while (graph->trail_count > 0) {
        struct node *node = &graph->nodes[graph->trail[graph->trail_count - 1]];
        size_t to;

        if (node->next_wish == node->wish_count) {
            node->mark = DONE;
            graph->trail_count--;
            continue;
        }
        to = node->wishes[node->next_wish++].to;
        if (graph->nodes[to].mark == ON_TRAIL) {
            report(graph, place_on_trail(graph, to), findings);
            node->next_wish = node->wish_count;
        } else if (graph->nodes[to].mark == UNSEEN) {
            graph->nodes[to].mark = ON_TRAIL;
            graph->trail[graph->trail_count++] = to;
        }
    }
}

static void clear(struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++)
        free(graph->nodes[i].wishes);
    free(graph->nodes);
    free(graph->trail);
}

bool doctor_check_cycles(const struct survey *survey, json_t *findings)
{
    struct graph graph = {0};
    bool is_built = collect_nodes(survey, &graph);

    for (size_t i = 0; is_built && i < survey->paths->count; i++) {
        if (survey->queues[i])
            is_built = add_queue(&graph, survey->paths->items[i], survey->queues[i]);
    }
    for (size_t i = 0; is_built && i < graph.count; i++) {
        if (graph.nodes[i].mark == UNSEEN)
            walk_from(&graph, i, findings);
    }
    clear(&graph);
    return is_built;
}
