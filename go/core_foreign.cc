//go:build cgo && !idgen_system

// All of core/src/foreign.
#include "../core/src/foreign/claim_heartbeat.cpp"
#include "../core/src/foreign/foreign_workers.cpp"
