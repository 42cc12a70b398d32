/* Lists of numeric addresses: no further than there is room, each entry for itself; each reads
 * the same again, and the list can be turned. */
#include "session/address.h"

#include "fuzz.h"

#define MOST_ADDRESSES 8

static void expect_same_again(const struct zkl_address *address)
{
    char *text = malloc(ZKL_ADDRESS_TEXT_SIZE);
    struct zkl_address again;

    EXPECT(text != NULL);
    EXPECT(zkl_address_format(address, text));
    EXPECT(strnlen(text, ZKL_ADDRESS_TEXT_SIZE) < ZKL_ADDRESS_TEXT_SIZE);
    EXPECT(zkl_address_parse(text, &again, 1) == 1);
    EXPECT(zkl_address_equal(address, &again) && zkl_address_equal(&again, address));
    free(text);
}

/* Host and port, with or without brackets, are what stood in the list. */
static bool expect_endpoint(const char *entry, size_t size, const struct zkl_endpoint *endpoint)
{
    char plain[300], bracketed[300];

    snprintf(plain, sizeof plain, "%s:%s", endpoint->host, endpoint->port);
    snprintf(bracketed, sizeof bracketed, "[%s]:%s", endpoint->host, endpoint->port);
    return (strlen(plain) == size && memcmp(plain, entry, size) == 0) ||
           (strlen(bracketed) == size && memcmp(bracketed, entry, size) == 0);
}

/* Returns how many entries there are; -1: one of them is none. */
static int read_endpoints(const char *list)
{
    struct zkl_endpoint endpoint;
    int count = 0;

    while (*list) {
        const char *entry = list;
        size_t size = strcspn(entry, ",");
        if (!zkl_endpoint_next(&list, &endpoint))
            return -1;
        EXPECT(list == entry + size + (entry[size] == ','));
        EXPECT(expect_endpoint(entry, size, &endpoint));
        count++;
    }
    return count;
}

/* Rotated, the list begins with another entry; rotated on, it is as it was. */
static void expect_rotation(const char *list, int first)
{
    int count = zkl_addresses_count(list);
    const char *entry = list;
    char *rotated, *again;

    first %= count;
    for (int i = 0; i < first; i++)
        entry += strcspn(entry, ",") + 1;
    rotated = zkl_addresses_rotate(list, first);
    EXPECT(rotated && strlen(rotated) == strlen(list));
    EXPECT(strncmp(rotated, entry, strlen(entry)) == 0);
    again = zkl_addresses_rotate(rotated, count - first);
    EXPECT(again && strcmp(again, list) == 0);
    free(again);
    free(rotated);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    char *list = take_text(&input, 600);
    int capacity = take_byte(&input) % (MOST_ADDRESSES + 1);
    struct zkl_address *addresses = calloc((size_t)capacity + 1, sizeof *addresses);
    int entries = read_endpoints(list);
    int count;

    EXPECT(addresses != NULL);
    count = zkl_address_parse(list, addresses, capacity);
    EXPECT(count == -1 || (count == entries && count <= capacity));
    EXPECT(addresses[capacity].size == 0);
    for (int i = 0; i < count; i++)
        expect_same_again(&addresses[i]);
    expect_rotation(list, take_byte(&input));
    free(addresses);
    free(list);
    return 0;
}
