/* What "zklock doctor" looks for. Each check adds what it finds: an object {kind, path, text}. */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include <jansson.h>

#include "live_sessions.h"
#include "survey.h"

/* Adds a finding; `path` may be NULL. What strangers wrote is made safe here. */
void doctor_add(json_t *findings, const char *kind, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "host:pid (label)", or the session's number. */
void doctor_name(const zklock_contender *contender, char *buffer, size_t size);

/* doctor_checks.c: one path at a time. `alive` is NULL where the servers do not tell. */
void doctor_check_path(const char *path, const zklock_queue *queue, const struct live_sessions *alive,
                       json_t *findings);

void doctor_check_counter(const char *path, const zklock_queue *queue, json_t *findings);

/* doctor_cycles.c: sessions that wait for each other over several locks. False: no memory. */
bool doctor_check_cycles(const struct survey *survey, json_t *findings);

#endif
