/*
 * dmodc_engine.h: the library libdmodc-engine, forwarding tables for fat trees.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * This file is written by a test of the crate dmodc-c; do not edit it.
 *
 * A fabric manager makes a fabric from records, routes it, says which parts fail or work again, and gets the entries that change:
 *
 *   dmodc_builder_new, dmodc_builder_add_..., dmodc_builder_finish   a fabric from records (or dmodc_fabric_read)
 *   dmodc_router_new                                                  its first tables
 *   dmodc_router_apply, dmodc_delta_...                               a change, and the entries that it moved
 *   dmodc_router_row, dmodc_router_verdict, ...                       tables and judgements
 *   dmodc_release                                                     for every object
 *
 * Objects are numbers, which are never used twice. A number that is wrong, or of an object that is released, gives
 * DMODC_STATUS_BAD_HANDLE and nothing worse. 0 is never an object. Every object must be released with dmodc_release.
 *
 * Results. Functions return a dmodc_status. If it is not DMODC_STATUS_OK, then dmodc_last_error has a message, and nothing has
 * changed unless the function says otherwise. A defect of the library gives DMODC_STATUS_INTERNAL; it never unwinds into the
 * caller. A line on stderr says where it was.
 *
 * Pointers. A null pointer is an error, unless the function allows it. Any other pointer must point to what its type says: a
 * record, a text that ends with a zero byte, or an array with the number of elements that is passed with it. The library keeps no
 * pointer after a call, and gives none away except for texts that stay for good.
 *
 * Buffers. A function that fills a buffer takes its capacity, in elements, and writes the number of elements to *count. If the
 * buffer is too small, the function returns DMODC_STATUS_TOO_SMALL and writes only the number that it needs. So a first call with
 * the capacity 0, where the buffer may be null, finds the size. Texts are UTF-8, and their zero byte counts.
 *
 * Records. The size of a record never changes. Bytes called reserved must be 0 in records that are passed in. Kinds and engines
 * are passed as uint32_t, and a number that is none gives DMODC_STATUS_BAD_ARGUMENT.
 *
 * Threads. Every function may be called from any thread at any time, also with the same objects, and 64 KiB of stack are enough.
 * Functions that only read a router run at once; a change of a router waits for them, and they wait for it. The library computes on
 * threads of its own, one for each core (dmodc_set_threads). Calls that compute take turns, each with all threads, also for different
 * routers. The threads start with the first such call, and take over its signal mask: block the signals that they shall not get.
 * dmodc_last_error is about the calling thread. A process may fork while no other thread is inside a call: the child starts threads of
 * its own. None of the functions may be called in a signal handler.
 *
 * Memory. If there is not enough memory for tables, the function returns DMODC_STATUS_NO_MEMORY. A router has two copies of its tables:
 * two bytes for each switch and destination.
 */

#ifndef DMODC_ENGINE_H
#define DMODC_ENGINE_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header. dmodc_version() is that of the library. */
#define DMODC_VERSION "0.2.0"
#define DMODC_VERSION_MAJOR 0
#define DMODC_VERSION_MINOR 2
#define DMODC_VERSION_PATCH 0

// The entry of a destination that a switch has no route to.
#define DMODC_NO_ROUTE 255

// The greatest number of a port.
#define DMODC_LAST_PORT 254

// The greatest LID. Those of InfiniBand end at 49151; greater ones are for studies.
#define DMODC_LAST_LID 2147483647

// The result of a function. Numbers never change their meaning.
enum dmodc_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Done.
    DMODC_STATUS_OK = 0,
    // An argument is wrong: a null pointer, a number out of range, a text that is not UTF-8.
    DMODC_STATUS_BAD_ARGUMENT = 1,
    // There is no such object: its number was never given, it is released, or it is an object of another kind.
    DMODC_STATUS_BAD_HANDLE = 2,
    // The records or the file are no fabric, or the reference describes another fabric.
    DMODC_STATUS_BAD_FABRIC = 3,
    // The fabric has no such switch, cable or LID.
    DMODC_STATUS_NOT_FOUND = 4,
    // The engine cannot route this fabric.
    DMODC_STATUS_CANNOT_ROUTE = 5,
    // A buffer is too small. The number of elements that are needed was written.
    DMODC_STATUS_TOO_SMALL = 6,
    // There is not enough memory for the tables, or threads cannot be started.
    DMODC_STATUS_NO_MEMORY = 7,
    // A defect of this library.
    DMODC_STATUS_INTERNAL = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dmodc_status dmodc_status;
#else
typedef uint32_t dmodc_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A routing engine.
enum dmodc_engine
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The paper's algorithm, for any fabric.
    DMODC_ENGINE_DMODC = 0,
    // Dmodc that keeps the routes of a reference wherever they work.
    DMODC_ENGINE_STABLE = 1,
    // Dmodc with the paper's dividers everywhere.
    DMODC_ENGINE_PAPER = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dmodc_engine dmodc_engine;
#else
typedef uint32_t dmodc_engine;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The purpose of an adapter.
enum dmodc_adapter_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // A host.
    DMODC_ADAPTER_KIND_HOST = 0,
    // The aggregation node inside a switch. It is routed to, but is no host and makes no leaf.
    DMODC_ADAPTER_KIND_AGGREGATION = 1,
    // A router to another subnet, which is routed to like a host.
    DMODC_ADAPTER_KIND_ROUTER = 2,
    // A host that makes no leaf of its switch.
    DMODC_ADAPTER_KIND_ASIDE = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dmodc_adapter_kind dmodc_adapter_kind;
#else
typedef uint32_t dmodc_adapter_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A fabric that is being made from records.
typedef uint64_t dmodc_builder;

// A switch.
typedef struct dmodc_switch {
    // Its GUID.
    uint64_t guid;
    // Its own LID. In a builder, 0 lets the library give one.
    uint32_t lid;
    // Its number of ports, 1 to 254.
    uint8_t ports;
    // Must be 0.
    uint8_t reserved[3];
} dmodc_switch;

// A channel adapter.
typedef struct dmodc_adapter {
    // Its GUID: that of the device, not those of its ports.
    uint64_t guid;
    // Its purpose, one of dmodc_adapter_kind.
    uint32_t kind;
    // Its number of ports, 1 to 254.
    uint8_t ports;
    // Must be 0.
    uint8_t reserved[3];
} dmodc_adapter;

// A port of an adapter. With a cable in it, it is a node.
typedef struct dmodc_end_port {
    // The GUID of the adapter.
    uint64_t adapter_guid;
    // The GUID of the port. The first port may have that of the adapter.
    uint64_t guid;
    // Its base LID; 0 lets the library give one.
    uint32_t lid;
    // It has 2^lmc LIDs; 0 to 7.
    uint8_t lmc;
    // Its number on the adapter, from 1.
    uint8_t port;
    // Must be 0.
    uint8_t reserved[2];
} dmodc_end_port;

// A cable between two ports. One of the devices at least is a switch.
typedef struct dmodc_cable {
    // The GUID of the device at one end.
    uint64_t guid_a;
    // The GUID of the device at the other end.
    uint64_t guid_b;
    // The port at one end.
    uint8_t port_a;
    // The port at the other end.
    uint8_t port_b;
    // Must be 0.
    uint8_t reserved[6];
} dmodc_cable;

// A fabric. It never changes.
typedef uint64_t dmodc_fabric;

// How many of each a fabric has.
typedef struct dmodc_counts {
    // Switches.
    uint32_t switches;
    // Nodes.
    uint32_t nodes;
    // Cables between switches.
    uint32_t cables;
    // The number of bytes of a row: one more than the greatest LID.
    uint32_t row_length;
} dmodc_counts;

// A node: a cabled port of an adapter.
typedef struct dmodc_node {
    // Its port GUID.
    uint64_t guid;
    // The GUID of its adapter.
    uint64_t adapter_guid;
    // The GUID of the switch that it is cabled to.
    uint64_t switch_guid;
    // Its base LID.
    uint32_t lid;
    // It has 2^lmc LIDs.
    uint8_t lmc;
    // Its number on the adapter.
    uint8_t port;
    // The port of the switch.
    uint8_t switch_port;
    // Is 0.
    uint8_t reserved[1];
} dmodc_node;

// What can be chosen about a router.
typedef uint64_t dmodc_settings;

// A fabric with its faults and its tables.
typedef uint64_t dmodc_router;

// A part that fails or works again.
typedef struct dmodc_change {
    // The GUID of a switch.
    uint64_t guid;
    // A port of it: the cable in that port. 0 is the switch itself.
    uint8_t port;
    // 0: the part fails. 1: it works again.
    uint8_t works;
    // Must be 0.
    uint8_t reserved[6];
} dmodc_change;

// The entries that a change moved.
typedef uint64_t dmodc_delta;

// The fates of pairs of nodes. pairs = delivered + lost + cut_off.
typedef struct dmodc_verdict {
    // Ordered pairs of live nodes. Aggregation nodes do not count.
    uint64_t pairs;
    // Pairs whose packets arrive.
    uint64_t delivered;
    // Pairs that live cables connect and the tables do not deliver.
    uint64_t lost;
    // Pairs that no live cables connect.
    uint64_t cut_off;
    // 1 if every pair of leaves with nodes has a route that goes up, then down; 0 otherwise.
    uint8_t valid;
    // Is 0.
    uint8_t reserved[7];
} dmodc_verdict;

// What following every pair of nodes found.
typedef struct dmodc_check {
    // The fates of all pairs.
    struct dmodc_verdict verdict;
    // Pairs whose packets loop.
    uint64_t loops;
    // Pairs whose route goes up after it went down.
    uint64_t up_down_violations;
    // 1 if packets cannot wait for each other in a circle; 0 otherwise.
    uint8_t deadlock_free;
    // Is 0.
    uint8_t reserved[7];
} dmodc_check;

// An entry of a table that changed.
typedef struct dmodc_entry {
    // The LID of the destination.
    uint32_t lid;
    // The port before; DMODC_NO_ROUTE if there was no route. 0 is the switch itself.
    uint8_t old_port;
    // The port now; DMODC_NO_ROUTE if there is no route. 0 is the switch itself.
    uint8_t new_port;
    // Is 0.
    uint8_t reserved[2];
} dmodc_entry;

// An order in which changed entries can be written.
typedef uint64_t dmodc_plan;

// One write of a plan: some entries of a block of 64 LIDs in the table of a switch.
typedef struct dmodc_write {
    // The GUID of the switch.
    uint64_t switch_guid;
    // The round, from 1. A round begins when all writes of the one before are answered.
    uint32_t round;
    // The number of the block: LIDs divided by 64.
    uint32_t block;
} dmodc_write;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the library that runs, such as "0.2.0". The text stays for good. DMODC_VERSION is that of the header.
const char *dmodc_version(void);

// Returns what a code of dmodc_status means in a few words. The text stays for good.
const char *dmodc_status_text(uint32_t status);

// Copies the message of the last function of this thread that failed, with a zero byte at its end. If the buffer is too small, the
// message is cut off. Returns the length of the whole message without the zero byte. The buffer may be null if the capacity is 0.
size_t dmodc_last_error(char *buffer,
                        size_t capacity);

// Sets the number of threads that compute from the next call on: 1 to 1024, or 0 for one for each core, as in the beginning.
// Results do not depend on it.
dmodc_status dmodc_set_threads(uint32_t threads);

// Forgets an object of any kind. Calls in other threads that use it end as usual, and objects that were made from it stay.
dmodc_status dmodc_release(uint64_t object);

// Returns the number of objects that are not released. A program that releases everything finds 0 at its end.
size_t dmodc_object_count(void);

// Begins a fabric that is made from records: devices first, then the ports of adapters and the cables.
dmodc_status dmodc_builder_new(dmodc_builder *builder);

// Adds a switch. The name is UTF-8, and may be null. Where cables do not decide the order of leaves, names do, with numbers in them
// compared as numbers; so the same fabric with other names can have other tables.
dmodc_status dmodc_builder_add_switch(dmodc_builder builder,
                                      const struct dmodc_switch *description,
                                      const char *name);

// Adds a channel adapter. The name is UTF-8, and may be null.
dmodc_status dmodc_builder_add_adapter(dmodc_builder builder,
                                       const struct dmodc_adapter *description,
                                       const char *name);

// Describes a port of an adapter that was added. Every port with a cable in it needs a description.
dmodc_status dmodc_builder_add_end_port(dmodc_builder builder, const struct dmodc_end_port *description);

// Adds a cable between two ports of devices that were added.
dmodc_status dmodc_builder_add_cable(dmodc_builder builder, const struct dmodc_cable *description);

// Makes the fabric. The builder is empty afterwards, also if the records do not fit together, and must still be released; the
// message then names the first thing that does not fit. A null pointer is an error that leaves the builder as it is.
dmodc_status dmodc_builder_finish(dmodc_builder builder,
                                  dmodc_fabric *fabric);

// Reads a fabric from text in any format that dmodc reads, such as the output of ibnetdiscover. Damaged lines are left out, as by
// the program dmodc. Ports without a LID get one.
dmodc_status dmodc_fabric_read(const uint8_t *bytes,
                               size_t length,
                               dmodc_fabric *fabric);

// Writes a fabric as text, which dmodc_fabric_read and the program dmodc read: JSON, with LIDs. So a reference lasts.
dmodc_status dmodc_fabric_write(dmodc_fabric fabric,
                                uint8_t *buffer,
                                size_t capacity,
                                size_t *count);

// Counts the parts of a fabric.
dmodc_status dmodc_fabric_counts(dmodc_fabric fabric, struct dmodc_counts *counts);

// Describes a switch by its index, from 0.
dmodc_status dmodc_fabric_switch(dmodc_fabric fabric, uint32_t index, struct dmodc_switch *description);

// Writes the name of a switch, with a zero byte at its end.
dmodc_status dmodc_fabric_switch_name(dmodc_fabric fabric,
                                      uint32_t index,
                                      char *buffer,
                                      size_t capacity,
                                      size_t *count);

// Finds the index of the switch with a GUID.
dmodc_status dmodc_fabric_find_switch(dmodc_fabric fabric, uint64_t guid, uint32_t *index);

// Describes a node by its index, from 0.
dmodc_status dmodc_fabric_node(dmodc_fabric fabric, uint32_t index, struct dmodc_node *description);

// Writes the name of the adapter of a node, with a zero byte at its end.
dmodc_status dmodc_fabric_node_name(dmodc_fabric fabric,
                                    uint32_t index,
                                    char *buffer,
                                    size_t capacity,
                                    size_t *count);

// Describes a cable between two switches by its index, from 0.
dmodc_status dmodc_fabric_cable(dmodc_fabric fabric, uint32_t index, struct dmodc_cable *description);

// Makes settings for routers: the engine Dmodc, without a reference and orders, with leaves that are found by the cables. A router
// takes them when it is made; later changes of the settings do not concern it.
dmodc_status dmodc_settings_new(dmodc_settings *settings);

// Sets the engine, one of dmodc_engine.
dmodc_status dmodc_settings_set_engine(dmodc_settings settings, uint32_t engine);

// Sets the reference of the engine Stable: the fabric as it is when whole. 0 takes it back; then the engine infers the cables that
// the fabric lacks. The fabric may be released before the settings.
dmodc_status dmodc_settings_set_reference(dmodc_settings settings,
                                          dmodc_fabric reference);

// Sets the orders of an earlier router, so that numbers, and with them most routes, stay: the text of dmodc_router_save_orders, or of
// the program dmodc. A length of 0 takes them back.
dmodc_status dmodc_settings_set_orders(dmodc_settings settings,
                                       const uint8_t *bytes,
                                       size_t length);

// Says whether the numbers of a router are meant to be saved: 1 gives numbers to empty places, too, so that a late host finds its
// number waiting. 0 numbers what is there, as the program dmodc does without --save-orders. Orders that are set go before both.
dmodc_status dmodc_settings_set_lasting(dmodc_settings settings,
                                        uint32_t lasting);

// Says that exactly the switches with these GUIDs are leaves. One of them at least must be in the fabric. A count of 0 takes it back.
dmodc_status dmodc_settings_set_leaves(dmodc_settings settings,
                                       const uint64_t *guids,
                                       size_t count);

// Says that ranks are counted down from the switches with these GUIDs, the roots. One of them at least must be in the fabric. A
// count of 0 takes it back.
dmodc_status dmodc_settings_set_roots(dmodc_settings settings,
                                      const uint64_t *guids,
                                      size_t count);

// Says that leaves are the switches with at least this number of nodes. 0 takes it back. Leaves or roots that are set go before it.
dmodc_status dmodc_settings_set_least_nodes(dmodc_settings settings,
                                            uint32_t nodes);

// Routes a fabric for the first time. The settings may be 0: then they are those of dmodc_settings_new. With a reference, parts that
// only the reference has belong to the router, too: they have failed, and can work again. The fabric and the settings may be
// released before the router.
dmodc_status dmodc_router_new(dmodc_fabric fabric,
                              dmodc_settings settings,
                              dmodc_router *router);

// Lets parts fail and work again, routes what that concerns, and returns the entries that changed: exactly those. If a part is
// unknown, nothing is changed. The delta may be null if it is not wanted. Changes can be made again and in any order: a part that has
// failed may fail again. If the fabric can no longer be routed, the changes stay, but functions that read the tables return
// DMODC_STATUS_CANNOT_ROUTE until a later change succeeds, whose delta begins with the last tables that there were.
dmodc_status dmodc_router_apply(dmodc_router router,
                                const struct dmodc_change *changes,
                                size_t count,
                                dmodc_delta *delta);

// Returns the entries of the newer router's tables that differ from those of the older one, by the GUID of the switch and the LID. When
// a fabric has grown, it is made anew, and this is what has to be written. A switch or a LID that the older one does not have had no
// route; switches that only the older one has are left out.
dmodc_status dmodc_router_compare(dmodc_router older,
                                  dmodc_router newer,
                                  dmodc_delta *delta);

// Lists the parts that have failed, so that dmodc_router_apply of another router can be given the same ones. A cable is named once. The
// cables of a switch that has failed are listed only if they have failed themselves.
dmodc_status dmodc_router_failed(dmodc_router router,
                                 struct dmodc_change *buffer,
                                 size_t capacity,
                                 size_t *count);

// Returns the fabric of a router as a new object. It has everything, also what has failed and what only the reference has. The rows of
// dmodc_router_rows are in the order of its switches. It can be the reference of a later router.
dmodc_status dmodc_router_fabric(dmodc_router router,
                                 dmodc_fabric *fabric);

// Lists the GUIDs of the live switches that are leaves.
dmodc_status dmodc_router_leaves(dmodc_router router, uint64_t *buffer, size_t capacity, size_t *count);

// Writes the numbers of all destinations and switches as text, for dmodc_settings_set_orders after the next start, or for the program
// dmodc (--orders). The text has no zero byte at its end.
dmodc_status dmodc_router_save_orders(dmodc_router router,
                                      uint8_t *buffer,
                                      size_t capacity,
                                      size_t *count);

// Writes the table of a switch by LID: element i is the port for LID i, 0 for the switch itself, and DMODC_NO_ROUTE if there is no route
// or no such LID. The number of elements is one more than the greatest LID.
dmodc_status dmodc_router_row(dmodc_router router,
                              uint64_t switch_guid,
                              uint8_t *buffer,
                              size_t capacity,
                              size_t *count);

// Writes the tables of all switches, one row after the other, in the order of the switches of dmodc_router_fabric. Each row is as
// that of dmodc_router_row, and has row_length elements. The capacity must be at least rows times row_length. If it is not, both are
// written, and nothing else.
dmodc_status dmodc_router_rows(dmodc_router router,
                               uint8_t *buffer,
                               size_t capacity,
                               size_t *rows,
                               size_t *row_length);

// Lists all ports by which a switch may send to a LID so that routes stay free of deadlock. The port in the table is one of them.
dmodc_status dmodc_router_alternatives(dmodc_router router,
                                       uint64_t switch_guid,
                                       uint32_t lid,
                                       uint8_t *buffer,
                                       size_t capacity,
                                       size_t *count);

// Says whether the routes are valid, and how many pairs arrive. It is known from routing, so this takes no time.
dmodc_status dmodc_router_verdict(dmodc_router router,
                                  struct dmodc_verdict *found);

// Follows every pair of nodes through the tables, and looks for loops and deadlocks. It takes seconds on large fabrics,
// and minutes on the largest: routing never needs it.
dmodc_status dmodc_router_check(dmodc_router router,
                                struct dmodc_check *found);

// Writes the digest of all tables as text with a zero byte at its end. The same tables of the same fabric have the
// same digest on every machine.
dmodc_status dmodc_router_digest(dmodc_router router,
                                 char *buffer,
                                 size_t capacity,
                                 size_t *count);

// Counts the switches that have an entry that changed, and all entries that changed.
dmodc_status dmodc_delta_counts(dmodc_delta delta, size_t *switches, uint64_t *entries);

// Returns the entries of one of the switches that changed, by its index from 0: the GUID of the switch, and its entries, ascending by
// LID. Switches that have failed are among them; their tables are empty.
dmodc_status dmodc_delta_entries(dmodc_delta delta,
                                 size_t index,
                                 uint64_t *switch_guid,
                                 struct dmodc_entry *buffer,
                                 size_t capacity,
                                 size_t *count);

// Plans in which order the entries of a delta can be written, so that no packet loops and nothing is lost that both tables deliver. The
// delta must be that of the last change of the router. There are as few rounds as that takes, or up to the given number of rounds, at
// most 1024, if that saves writes. It takes about as long as dmodc_router_check.
dmodc_status dmodc_plan_new(dmodc_router router,
                            dmodc_delta delta,
                            uint32_t rounds,
                            dmodc_plan *plan);

// Counts the rounds and the writes of a plan.
dmodc_status dmodc_plan_counts(dmodc_plan plan, uint32_t *rounds, size_t *writes);

// Returns one of the writes of a plan, by its index from 0, and the entries of the block that become new then. The other entries of
// the block stay as they are at that moment. Writes are sorted by round; those of one round may be made in any order.
dmodc_status dmodc_plan_write(dmodc_plan plan,
                              size_t index,
                              struct dmodc_write *write,
                              struct dmodc_entry *buffer,
                              size_t capacity,
                              size_t *count);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* DMODC_ENGINE_H */
