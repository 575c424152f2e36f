/* What the machine is, what it is doing, and what follows from it for a program.
 *
 * Link with -lgadusmachine. The questions are those of Giceva et al. 2013, section 4.3:
 * get_cache_size, suggest_number_of_partitions and suggest_resource_allocation.
 *
 * - A function that fails returns NULL or -1, and gadus_machine_error() says why, to the thread that
 *   called it, until that thread calls again.
 * - A machine may be used by one thread at a time.
 * - Bytes are counted one by one; cores and nodes by the numbers that `gadus machine place` prints.
 */
#ifndef GADUS_MACHINE_H
#define GADUS_MACHINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A machine, and what is left of it for one more program. */
typedef struct gadus_machine gadus_machine;

/* What the work waits for: its own instructions, so that a core is done when they are; or memory, so that
 * what lies on a node comes from there at one speed, whichever cores ask. */
enum gadus_machine_bound { GADUS_MACHINE_COMPUTE = 0, GADUS_MACHINE_MEMORY = 1 };

/* Whether threads are to share caches: it makes no difference; they drive each other's data out; they
 * read the same. */
enum gadus_machine_sharing {
    GADUS_MACHINE_ANY = 0,
    GADUS_MACHINE_AVOID = 1,
    GADUS_MACHINE_WANT = 2
};

/* Where a partition goes. */
typedef struct gadus_machine_place {
    uint32_t core;      /* by its place in the machine's list */
    uint32_t processor; /* the first of the core's, as sched_setaffinity counts them */
    int32_t node;       /* the memory node's number, -1 where the machine tells of none */
} gadus_machine_place;

/* This machine, idle as far as is known. */
gadus_machine *gadus_machine_discover(void);

/* A machine that hwloc has written down: lstopo machine.xml. */
gadus_machine *gadus_machine_from_file(const char *path);

/* Gives it back; NULL is none. */
void gadus_machine_free(gadus_machine *machine);

/* Why the calling thread's last call has failed; empty where it has not. */
const char *gadus_machine_error(void);

/* Looks for so many milliseconds what runs here, and what this process may use. Only of this machine. */
int gadus_machine_observe(gadus_machine *machine, uint32_t milliseconds);

/* Others keep a core busy: 0.3 is three tenths of its time, 1.0 a thread that never rests. */
int gadus_machine_load(gadus_machine *machine, uint32_t core, double load);

/* Others have taken memory of a node, by its number. */
int gadus_machine_take(gadus_machine *machine, uint32_t node, uint64_t bytes);

/* What memory gives, in bytes a second: to one thread, and to all threads near a node together. Where it
 * bounds the work, gadus_machine_partitions then suggests no more of them than keep the nodes busy: with
 * 12e9 and 40e9 four for each node. Without it, a core each. */
int gadus_machine_bandwidth(gadus_machine *machine, double thread, double node);

/* The same, measured: for so many milliseconds by one thread, and by all near a node. Reads up to 512 MiB
 * that no cache holds, and 64 MiB for each core more. Only of this machine. */
int gadus_machine_measure_bandwidth(gadus_machine *machine, uint32_t milliseconds);

/* How many cores there are. */
int64_t gadus_machine_cores(const gadus_machine *machine);

/* Bytes of a cache of a level, the smallest of those that hold data. */
int64_t gadus_machine_cache_size(const gadus_machine *machine, uint32_t level);

/* How many partitions rows of some bytes are to have. What memory gives counts where it bounds the work. */
int64_t gadus_machine_partitions(const gadus_machine *machine, uint64_t bytes,
                                 enum gadus_machine_bound bound);

/* Where partitions of some bytes each go, at most 16384 of them: up to `mappings` ways, the best first.
 * `places` has room for mappings * partitions of them, a mapping after another. Returns how many mappings
 * there are. */
int64_t gadus_machine_allocate(const gadus_machine *machine, uint32_t partitions,
                               uint64_t bytes_each, enum gadus_machine_bound bound,
                               enum gadus_machine_sharing sharing,
                               gadus_machine_place *places, uint32_t mappings);

#ifdef __cplusplus
}
#endif

#endif
