/*
 * The only part that knows OpenSM's structures. It is compiled against the installed headers; OpenSM compares their
 * version with its own before it calls anything here.
 */
#include <opensm/osm_config.h> /* first: without it, structures have other sizes */

#include <pthread.h>
#include <string.h>
#include <time.h>

#include <opensm/osm_event_plugin.h>
#include <opensm/osm_log.h>
#include <opensm/osm_node.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_port.h>
#include <opensm/osm_subnet.h>
#include <opensm/osm_switch.h>
#include <opensm/osm_version.h>

#include "shim.h"

const char dmodc_osm_version[] = OSM_VERSION;

/* Checks pointers that lead back to OpenSM itself and are far apart in it: with another layout they are elsewhere. */
int dmodc_layout_is_right(const struct osm_opensm *osm)
{
	return osm->subn.p_osm == osm && osm->sm.p_subn == &osm->subn && osm->sm.p_log == &osm->log;
}

static int setup(struct osm_routing_engine *engine, struct osm_opensm *osm)
{
	(void)osm;
	engine->build_lid_matrices = dmodc_hops;
	engine->ucast_build_fwd_tables = dmodc_route;
	return 0;
}

int dmodc_register(struct osm_opensm *osm, void *context)
{
	external_routing_engine_module_t module = { "dmodc", setup, context };
	return osm_register_external_routing_engine(osm, &module, context) == CL_SUCCESS ? 0 : -1;
}

/* osm_log prints into a buffer of 4096 bytes without a check. */
#define LONGEST_LINE 2000

void dmodc_log(struct osm_opensm *osm, uint8_t level, const char *text)
{
	osm_log(&osm->log, level, "dmodc: %.*s\n", LONGEST_LINE, text);
}

int dmodc_log_is_active(const struct osm_opensm *osm, uint8_t level)
{
	return osm_log_is_active(&osm->log, level) ? 1 : 0;
}

/* Finds options that other engines use. A file is set if it has a name. */
void dmodc_options(const struct osm_opensm *osm, struct dmodc_options *options)
{
	const osm_subn_opt_t *opt = &osm->subn.opt;
	const struct {
		const char *name;
		int is_set;
	} others[] = {
		{ "port_prof_ignore_file", opt->port_prof_ignore_file && *opt->port_prof_ignore_file },
		{ "port_search_ordering_file",
		  opt->port_search_ordering_file && *opt->port_search_ordering_file },
		{ "guid_routing_order_file", opt->guid_routing_order_file && *opt->guid_routing_order_file },
		{ "guid_routing_order_no_scatter", !!opt->guid_routing_order_no_scatter },
		{ "scatter_ports", opt->scatter_ports != 0 },
		{ "port_shifting", !!opt->port_shifting },
		{ "port_profile_switch_nodes", !!opt->port_profile_switch_nodes },
		{ "avoid_throttled_links", !!opt->avoid_throttled_links },
		{ "cn_guid_file", opt->cn_guid_file && *opt->cn_guid_file },
		{ "io_guid_file", opt->io_guid_file && *opt->io_guid_file },
		{ "max_reverse_hops", opt->max_reverse_hops != 0 },
		{ "ids_guid_file", opt->ids_guid_file && *opt->ids_guid_file },
		{ "lfts_file", opt->lfts_file && *opt->lfts_file },
		{ "lid_matrix_dump_file", opt->lid_matrix_dump_file && *opt->lid_matrix_dump_file },
		{ "quasi_ftree_indexing", !!opt->quasi_ftree_indexing },
	};
	memset(options, 0, sizeof(*options));
	options->port = cl_ntoh64(osm->subn.sm_port_guid);
	options->roots = opt->root_guid_file && *opt->root_guid_file ? opt->root_guid_file : NULL;
	options->connect_roots = !!opt->connect_roots;
	options->hop_weights = opt->hop_weights_file && *opt->hop_weights_file;
	for (size_t at = 0; at < sizeof(others) / sizeof(*others); at++) {
		size_t used = strlen(options->ignored);
		if (!others[at].is_set || used + strlen(others[at].name) + 2 > sizeof(options->ignored))
			continue;
		strcpy(options->ignored + used, others[at].name);
		strcat(options->ignored, " ");
	}
}

/* Loops over all nodes of OpenSM's map. */
#define FOR_EACH_NODE(osm, node)                                                                   \
	for (osm_node_t *node = (osm_node_t *)cl_qmap_head(&(osm)->subn.node_guid_tbl);            \
	     node != (osm_node_t *)cl_qmap_end(&(osm)->subn.node_guid_tbl);                        \
	     node = (osm_node_t *)cl_qmap_next(&node->map_item))

static void report_device(const osm_node_t *node, const struct dmodc_sink *sink)
{
	int is_switch = osm_node_get_type(node) == IB_NODE_TYPE_SWITCH;
	const osm_physp_t *own = is_switch ? osm_node_get_physp_ptr((osm_node_t *)node, 0) : NULL;
	struct dmodc_device device = {
		.guid = cl_ntoh64(osm_node_get_node_guid(node)),
		.system = cl_ntoh64(node->node_info.sys_guid),
		.name = node->print_desc ? node->print_desc : "",
		.vendor = cl_ntoh32(ib_node_info_get_vendor_id(&node->node_info)),
		.device = cl_ntoh16(node->node_info.device_id),
		.lid = is_switch ? cl_ntoh16(osm_node_get_base_lid(node, 0)) : 0,
		.ports = node->node_info.num_ports,
		.kind = osm_node_get_type(node),
		.lmc = own ? osm_physp_get_lmc(own) : 0,
	};
	sink->device(sink->sink, &device);
}

static void report_ports(osm_node_t *node, const struct dmodc_sink *sink)
{
	if (osm_node_get_type(node) == IB_NODE_TYPE_SWITCH)
		return;
	for (uint32_t p = 1; p < osm_node_get_num_physp(node); p++) {
		const osm_physp_t *port = osm_node_get_physp_ptr(node, p);
		if (!port || !osm_physp_get_remote(port))
			continue;
		struct dmodc_end_port end_port = {
			.device = cl_ntoh64(osm_node_get_node_guid(node)),
			.guid = cl_ntoh64(osm_physp_get_port_guid(port)),
			.lid = cl_ntoh16(osm_physp_get_base_lid(port)),
			.port = (uint8_t)p,
			.lmc = osm_physp_get_lmc(port),
		};
		sink->end_port(sink->sink, &end_port);
	}
}

static void report_cables(osm_node_t *node, const struct dmodc_sink *sink)
{
	uint64_t guid = cl_ntoh64(osm_node_get_node_guid(node));
	for (uint32_t p = 1; p < osm_node_get_num_physp(node); p++) {
		const osm_physp_t *port = osm_node_get_physp_ptr(node, p);
		const osm_physp_t *remote = port ? osm_physp_get_remote(port) : NULL;
		if (!remote || !osm_physp_is_valid(remote) || !osm_link_is_healthy(port))
			continue;
		const osm_node_t *peer = osm_physp_get_node_ptr(remote);
		uint64_t peer_guid = cl_ntoh64(osm_node_get_node_guid(peer));
		uint8_t peer_port = osm_physp_get_port_num(remote);
		/* Both ends list the cable; it is reported by the lesser one. */
		if (guid > peer_guid || (guid == peer_guid && p > peer_port))
			continue;
		struct dmodc_cable cable = {
			.device = { guid, peer_guid },
			.port = { (uint8_t)p, peer_port },
		};
		sink->cable(sink->sink, &cable);
	}
}

void dmodc_collect(struct osm_opensm *osm, const struct dmodc_sink *sink)
{
	FOR_EACH_NODE (osm, node)
		report_device(node, sink);
	FOR_EACH_NODE (osm, node)
		report_ports(node, sink);
	FOR_EACH_NODE (osm, node)
		report_cables(node, sink);
}

int dmodc_write(struct osm_opensm *osm, uint64_t guid, const uint8_t *entries, uint32_t count,
		struct dmodc_written *written)
{
	osm_switch_t *sw = osm_get_switch_by_guid(&osm->subn, cl_hton64(guid));
	if (!sw || !sw->new_lft || count > sw->lft_size)
		return -1;
	memcpy(sw->new_lft, entries, count);
	memset(sw->new_lft + count, OSM_NO_PATH, sw->lft_size - count);
	for (uint32_t at = 0; at < sw->lft_size; at += IB_SMP_DATA_SIZE) {
		uint32_t end = at + IB_SMP_DATA_SIZE < sw->lft_size ? at + IB_SMP_DATA_SIZE : sw->lft_size;
		if (sw->lft && !memcmp(sw->new_lft + at, sw->lft + at, end - at))
			continue;
		written->blocks++;
		for (uint32_t lid = at; lid < end; lid++)
			written->entries += !sw->lft || sw->new_lft[lid] != sw->lft[lid];
	}
	return 0;
}

/* Writes the hop table of a switch: for each of `count` switches, by LID, an entry for each of `ports`. */
int dmodc_set_hops(struct osm_opensm *osm, uint64_t guid, const uint16_t *lids, uint32_t count,
		   const uint8_t *hops, uint32_t ports)
{
	osm_switch_t *sw = osm_get_switch_by_guid(&osm->subn, cl_hton64(guid));
	if (!sw || !sw->hops || sw->num_ports != ports)
		return -1;
	for (uint32_t at = 0; at < count; at++, hops += ports) {
		/* A switch that has no LID yet is no destination. */
		if (!lids[at])
			continue;
		if (lids[at] > sw->max_lid_ho)
			return -1;
		/* This call allocates the entries of a LID. */
		if (!sw->hops[lids[at]] && osm_switch_set_hops(sw, lids[at], 0, OSM_NO_PATH))
			return -1;
		memcpy(sw->hops[lids[at]], hops, ports);
	}
	return 0;
}

/* Empties all tables, so that the next engine starts as if nothing had been written. */
void dmodc_empty(struct osm_opensm *osm)
{
	cl_qmap_t *switches = &osm->subn.sw_guid_tbl;
	for (osm_switch_t *sw = (osm_switch_t *)cl_qmap_head(switches);
	     sw != (osm_switch_t *)cl_qmap_end(switches);
	     sw = (osm_switch_t *)cl_qmap_next(&sw->map_item))
		if (sw->new_lft)
			memset(sw->new_lft, OSM_NO_PATH, sw->lft_size);
}

/*
 * Measures how long an engine takes: the callbacks of the first engine in the list are wrapped. If a callback is missing
 * or declines, OpenSM's own function is measured instead. The one for hop tables can be called here. The one for tables
 * cannot; it is over when OpenSM notes which engine it used, before it sends anything.
 */
static struct {
	struct osm_opensm *osm;
	const char *name;
	int (*matrices)(void *context);
	int (*tables)(void *context);
	clockid_t thread;
	uint64_t wall, cpu;
} timed;

static uint64_t now(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void start(void)
{
	pthread_getcpuclockid(pthread_self(), &timed.thread);
	timed.wall = now(CLOCK_MONOTONIC);
	timed.cpu = now(timed.thread);
}

static void stop(const char *stage)
{
	dmodc_timed(timed.name, stage, now(CLOCK_MONOTONIC) - timed.wall, now(timed.thread) - timed.cpu);
}

static int timed_matrices(void *context)
{
	start();
	int result = timed.matrices ? timed.matrices(context) : 1;
	if (result > 0)
		result = osm_ucast_mgr_build_lid_matrices(&timed.osm->sm.ucast_mgr);
	stop("matrices");
	return result;
}

static void *wait_for_tables(void *unused)
{
	const struct timespec moment = { 0, 50000 };
	(void)unused;
	while (!__atomic_load_n(&timed.osm->routing_engine_used, __ATOMIC_ACQUIRE))
		nanosleep(&moment, NULL);
	stop("tables");
	return NULL;
}

static int timed_tables(void *context)
{
	pthread_t waiting;
	start();
	int result = timed.tables ? timed.tables(context) : 1;
	if (result <= 0)
		stop("tables");
	else if (!pthread_create(&waiting, NULL, wait_for_tables, NULL))
		pthread_detach(waiting);
	return result;
}

void dmodc_time_engine(struct osm_opensm *osm)
{
	struct osm_routing_engine *engine = osm->routing_engine_list;
	if (!engine || engine->build_lid_matrices == timed_matrices)
		return;
	timed.osm = osm;
	timed.name = engine->name;
	timed.matrices = engine->build_lid_matrices;
	timed.tables = engine->ucast_build_fwd_tables;
	engine->build_lid_matrices = timed_matrices;
	engine->ucast_build_fwd_tables = timed_tables;
}
