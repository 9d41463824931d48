// Package adaptertest holds what adapters are tested with: the conformance suites Run and
// HubHistories (of adapters.Adapter) and Store (of adapters.Store), World, the chat platform that the
// former run on; Wire, on which a world of a real platform's stand-in has calls go wrong; Platform, a
// strict chat platform in memory that refuses what real ones refuse and remembers what a person would
// see, and Adapter, the adapter for it; Memory, a store and output log in memory. It's test code in
// ordinary files, so that the packages of the platforms and the store can run the suites.
package adaptertest
