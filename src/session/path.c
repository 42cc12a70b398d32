/* ZooKeeper's rules for a path. They are checked here so that a bad one is named before anything is sent. */
#include "session/path.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/line.h"
#include "session/servers.h"

/* What no code point is. */
#define NOT_UTF8 UINT32_MAX

/* Reads one code point; NOT_UTF8 for anything that a strict decoder refuses. `out_size` is its length in bytes. */
static uint32_t decode(const char *text, size_t *out_size)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text;
    size_t size = bytes[0] < 0x80 ? 1 : bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : 2;
    uint32_t point = size == 1 ? bytes[0] : bytes[0] & (0xFFu >> (size + 1));

    *out_size = 1;
    if ((bytes[0] >= 0x80 && bytes[0] < 0xC0) || bytes[0] >= 0xF8)
        return NOT_UTF8;
    for (size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return NOT_UTF8;
        point = point << 6 | (bytes[i] & 0x3Fu);
    }
    if (point < smallest[size] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF))
        return NOT_UTF8;
    *out_size = size;
    return point;
}

/* NULL when ZooKeeper accepts this code point in a path. */
static const char *point_fault(uint32_t point)
{
    if (point == NOT_UTF8)
        return "not valid UTF-8";
    if (point < 0x20 || (point >= 0x7F && point <= 0x9F))
        return "a control character is not allowed";
    /* The server looks at UTF-16 units, so that it takes everything above U+FFFF for surrogates. */
    if ((point >= 0xD800 && point <= 0xF8FF) || point >= 0xFFF0)
        return "ZooKeeper does not allow this character";
    return NULL;
}

/* NULL when a component of this text and length may stand in a path. */
static const char *component_fault(const char *component, size_t size, bool is_last)
{
    if (size == 0)
        return is_last ? "a path must not end with a slash" : "empty component";
    if (size == 1 && component[0] == '.')
        return "\".\" is no component";
    if (size == 2 && component[0] == '.' && component[1] == '.')
        return "\"..\" is no component";
    return NULL;
}

static bool is_reserved(const char *path)
{
    static const char reserved[] = "/zookeeper";
    size_t size = sizeof(reserved) - 1;

    return strncmp(path, reserved, size) == 0 && (path[size] == '\0' || path[size] == '/');
}

/*
 * Looks at every component and every character in one pass. Returns what is wrong, and the character (from 1) where
 * it is; NULL if nothing is.
 */
static const char *find_fault(const char *path, size_t *out_position)
{
    const char *component = path + 1;
    size_t position = 2, component_position = 2;

    for (const char *next = component;;) {
        bool is_end = *next == '\0';
        size_t size = 1;
        const char *fault;

        if (is_end || *next == '/') {
            fault = component_fault(component, (size_t)(next - component), is_end);
            *out_position = component_position - (is_end && next == component ? 1 : 0);
            component = next + 1;
            component_position = position + 1;
        } else {
            fault = point_fault(decode(next, &size));
            *out_position = position;
        }
        if (fault || is_end)
            return fault;
        next += size;
        position++;
    }
}

const char *zkl_path_fault(const char *path, size_t *out_position)
{
    const char *fault = NULL;

    *out_position = 1;
    if (!path || path[0] != '/')
        return "a path begins with a slash";
    if (path[1] != '\0')
        fault = find_fault(path, out_position);
    if (fault)
        return fault;
    *out_position = 1;
    if (is_reserved(path))
        return "/zookeeper is reserved by ZooKeeper";
    if (strlen(path) > ZKL_LONGEST_PATH)
        return "a path has at most 900 bytes";
    return NULL;
}

zklock_status zkl_path_check(const char *path, char *detail, size_t detail_size)
{
    size_t position;
    const char *fault = zkl_path_fault(path, &position);
    struct zkl_line line;

    if (!fault)
        return ZKLOCK_OK;
    zkl_line_init(&line, detail, detail_size);
    zkl_line_append(&line, "character %zu: %s", position, fault);
    return ZKLOCK_BAD_ARGUMENT;
}

zklock_status zklock_path_check(const char *path, char *buffer, size_t size)
{
    return zkl_path_check(path, buffer, size);
}

char *zkl_path_join(const char *parent, const char *name)
{
    const char *slash = strcmp(parent, "/") == 0 ? "" : "/";
    char *path = malloc(strlen(parent) + strlen(name) + 2);

    if (path)
        sprintf(path, "%s%s%s", parent, slash, name);
    return path;
}

char *zkl_path_below(const char *chroot, const char *path)
{
    bool is_chroot = chroot[0] && strcmp(path, "/") == 0;
    char *full = malloc(strlen(chroot) + strlen(path) + 1);

    if (full)
        sprintf(full, "%s%s", chroot, is_chroot ? "" : path);
    return full;
}
