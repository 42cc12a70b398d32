/*
 * How much one handle may watch and own. After a reconnect the client library names all watched paths in one packet, and
 * the end of a session names all its ephemeral nodes in one transaction; beyond a mebibyte the server drops the
 * connection, for ever, or does not start any more. So room is asked for before anything is begun.
 *
 * A watch on the node ahead outlives a waiter that gave up: it goes when that node goes. Such watches are remembered by
 * path, since many waiters in turn can have left the same one.
 */
#include <stdlib.h>
#include <string.h>

#include "session/session_state.h"

/* The server's limit is 1048575; the rest is for what is around the paths. */
#define MOST_BYTES 900000
/* A path's length stands before it. */
#define LENGTH_BYTES 4

struct zkl_left_watch {
    struct zkl_left_watch *next;
    char path[];
};

size_t zkl_session_path_room(size_t path_length)
{
    return path_length + LENGTH_BYTES;
}

bool zkl_session_reserve(zklock_session *session, size_t bytes)
{
    struct zkl_room *room = &session->room;

    if (bytes > MOST_BYTES || room->reserved + room->left > MOST_BYTES - bytes)
        return false;
    room->reserved += bytes;
    return true;
}

void zkl_session_unreserve(zklock_session *session, size_t bytes)
{
    session->room.reserved -= bytes;
}

/* Where the path hangs, or would. */
static struct zkl_left_watch **find(struct zkl_room *room, const char *path)
{
    unsigned hash = 2166136261u;

    for (const char *at = path; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    struct zkl_left_watch **at = &room->left_watches[hash % ZKL_ROOM_BUCKETS];
    while (*at && strcmp((*at)->path, path) != 0)
        at = &(*at)->next;
    return at;
}

void zkl_session_leave_watch(zklock_session *session, const char *path)
{
    struct zkl_left_watch **at = find(&session->room, path);

    if (*at)
        return;
    struct zkl_left_watch *watch = malloc(sizeof *watch + strlen(path) + 1);
    if (!watch)
        return;
    watch->next = NULL;
    strcpy(watch->path, path);
    *at = watch;
    session->room.left += zkl_session_path_room(strlen(path));
}

static void remove_at(struct zkl_room *room, struct zkl_left_watch **at)
{
    struct zkl_left_watch *watch = *at;

    room->left -= zkl_session_path_room(strlen(watch->path));
    *at = watch->next;
    free(watch);
}

void zkl_room_watch_fired(zklock_session *session, const char *path)
{
    struct zkl_left_watch **at = find(&session->room, path);

    if (*at)
        remove_at(&session->room, at);
}

void zkl_room_clear(zklock_session *session)
{
    for (int i = 0; i < ZKL_ROOM_BUCKETS; i++)
        while (session->room.left_watches[i])
            remove_at(&session->room, &session->room.left_watches[i]);
}

bool zkl_room_is_crowded(const zklock_session *session)
{
    return session->room.left > MOST_BYTES / 2;
}
