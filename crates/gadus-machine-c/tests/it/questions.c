/* Asks a described machine, and this one, what a scan's threads would ask. */
#include <gadus_machine.h>
#include <stdio.h>
#include <string.h>

#define CHECK(holds)                                                                  \
    do {                                                                              \
        if (!(holds)) {                                                               \
            fprintf(stderr, "%d: %s: %s\n", __LINE__, #holds, gadus_machine_error()); \
            return 1;                                                                 \
        }                                                                             \
    } while (0)

#define GIB ((uint64_t)1 << 30)

static int ask_described(const char *path) {
    gadus_machine *machine = gadus_machine_from_file(path);
    CHECK(machine);
    CHECK(gadus_machine_cores(machine) == 16);
    CHECK(gadus_machine_cache_size(machine, 3) == 6 << 20);
    int64_t count = gadus_machine_partitions(machine, 7 * GIB, GADUS_MACHINE_COMPUTE);
    printf("%d partitions\n", (int)count);
    CHECK(gadus_machine_load(machine, 0, 1.0) == 0);
    count = gadus_machine_partitions(machine, 7 * GIB, GADUS_MACHINE_COMPUTE);
    printf("%d beside a busy core\n", (int)count);
    gadus_machine_free(machine);

    machine = gadus_machine_from_file(path);
    CHECK(machine);
    gadus_machine_place places[16];
    CHECK(gadus_machine_allocate(machine, 16, 7 * GIB / 16, GADUS_MACHINE_COMPUTE,
                                 GADUS_MACHINE_ANY, places, 1) == 1);
    int each[4] = {0};
    for (int partition = 0; partition < 16; partition++) {
        CHECK(places[partition].node >= 0 && places[partition].node < 4);
        each[places[partition].node]++;
    }
    CHECK(each[0] == each[1] && each[1] == each[2] && each[2] == each[3]);
    printf("%d on each node\n", each[0]);

    /* Two threads of 10 GB/s keep 18 GB/s of each of four nodes busy; computing needs all cores. */
    const enum gadus_machine_bound memory = GADUS_MACHINE_MEMORY;
    CHECK(gadus_machine_partitions(machine, 7 * GIB, memory) == 16);
    CHECK(gadus_machine_bandwidth(machine, 10e9, 18e9) == 0);
    CHECK(gadus_machine_partitions(machine, 7 * GIB, memory) == 8);
    CHECK(gadus_machine_partitions(machine, 7 * GIB, GADUS_MACHINE_COMPUTE) == 16);
    CHECK(gadus_machine_bandwidth(machine, 0.0, 18e9) == -1 && *gadus_machine_error());
    CHECK(gadus_machine_bandwidth(machine, 10e9, -18e9) == -1);
    CHECK(gadus_machine_partitions(machine, 7 * GIB, memory) == 8);
    CHECK(gadus_machine_measure_bandwidth(machine, 1) == -1);
    CHECK(gadus_machine_bandwidth(NULL, 10e9, 18e9) == -1);

    /* What cannot be is refused with its reason. */
    CHECK(gadus_machine_cache_size(machine, 9) == -1);
    CHECK(strstr(gadus_machine_error(), "level 9"));
    CHECK(gadus_machine_allocate(machine, 0, 1, GADUS_MACHINE_COMPUTE, GADUS_MACHINE_ANY, places,
                                 1) == -1);
    CHECK(gadus_machine_allocate(machine, UINT32_MAX, 1, GADUS_MACHINE_COMPUTE, GADUS_MACHINE_ANY,
                                 places, 1) == -1);
    CHECK(strstr(gadus_machine_error(), "at most 16384"));
    CHECK(gadus_machine_load(machine, 99, 1.0) == -1 && gadus_machine_take(machine, 9, 1) == -1);
    CHECK(gadus_machine_observe(machine, 1) == -1);
    CHECK(gadus_machine_cores(machine) == 16 && !*gadus_machine_error());
    gadus_machine_free(machine);
    CHECK(!gadus_machine_from_file("/nowhere.xml") && *gadus_machine_error());
    CHECK(gadus_machine_cores(NULL) == -1);
    gadus_machine_free(NULL);
    return 0;
}

static int ask_this(void) {
    gadus_machine *machine = gadus_machine_discover();
    CHECK(machine);
    CHECK(gadus_machine_observe(machine, 10) == 0);
    CHECK(gadus_machine_partitions(machine, GIB, GADUS_MACHINE_MEMORY) >= 1);
    CHECK(gadus_machine_measure_bandwidth(machine, 5) == 0);
    int64_t count = gadus_machine_partitions(machine, GIB, GADUS_MACHINE_MEMORY);
    CHECK(count >= 1 && count <= gadus_machine_cores(machine));
    gadus_machine_free(machine);
    return 0;
}

int main(int count, char **arguments) {
    if (count != 2 || ask_described(arguments[1]) || ask_this()) {
        return 1;
    }
    printf("all is as it should be\n");
    return 0;
}
