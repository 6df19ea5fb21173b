/* The interface between the shim, which knows OpenSM's structures, and Rust, which does not. */
#ifndef DMODC_SHIM_H
#define DMODC_SHIM_H

#include <stdint.h>

struct osm_opensm;

/* A switch, adapter or router. */
struct dmodc_device {
	uint64_t guid;
	uint64_t system;
	const char *name;
	uint32_t vendor;
	uint32_t device;
	uint16_t lid; /* of a switch */
	uint8_t ports;
	uint8_t kind; /* as in NodeInfo: 1 adapter, 2 switch, 3 router */
	uint8_t lmc;  /* of a switch: it has 2^lmc LIDs */
};

/* A port of an adapter or router. */
struct dmodc_end_port {
	uint64_t device;
	uint64_t guid;
	uint16_t lid;
	uint8_t port;
	uint8_t lmc;
};

/* A cable that is up and healthy. */
struct dmodc_cable {
	uint64_t device[2];
	uint8_t port[2];
};

/* Callbacks that receive the fabric: all devices first, then all ports, then all cables. */
struct dmodc_sink {
	void *sink;
	void (*device)(void *sink, const struct dmodc_device *device);
	void (*end_port)(void *sink, const struct dmodc_end_port *port);
	void (*cable)(void *sink, const struct dmodc_cable *cable);
};

/* How a table that was written differs from the table that the switch has. */
struct dmodc_written {
	uint32_t entries; /* that differ */
	uint32_t blocks;  /* of 64 entries with at least one of them: a packet will be sent for each */
};

/* Options of OpenSM that concern routing. */
struct dmodc_options {
	uint64_t port; /* GUID of the port that OpenSM works through */
	const char *roots;
	uint8_t connect_roots;
	uint8_t hop_weights;
	/* Names of other routing options that are set, separated by blanks. */
	char ignored[512];
};

/* Functions of the shim that Rust calls. */
extern const char dmodc_osm_version[];
int dmodc_layout_is_right(const struct osm_opensm *osm);
int dmodc_register(struct osm_opensm *osm, void *context);
void dmodc_log(struct osm_opensm *osm, uint8_t level, const char *text);
int dmodc_log_is_active(const struct osm_opensm *osm, uint8_t level);
void dmodc_options(const struct osm_opensm *osm, struct dmodc_options *options);
void dmodc_collect(struct osm_opensm *osm, const struct dmodc_sink *sink);
int dmodc_write(struct osm_opensm *osm, uint64_t guid, const uint8_t *entries, uint32_t count,
		struct dmodc_written *written);
int dmodc_set_hops(struct osm_opensm *osm, uint64_t guid, const uint16_t *lids, uint32_t count,
		   const uint8_t *hops, uint32_t ports);
void dmodc_empty(struct osm_opensm *osm);
void dmodc_time_engine(struct osm_opensm *osm);

/* Functions of Rust that the shim calls. */
int dmodc_hops(void *context);
int dmodc_route(void *context);
void dmodc_timed(const char *engine, const char *stage, uint64_t nanoseconds, uint64_t cpu_nanoseconds);

#endif
