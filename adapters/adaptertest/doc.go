// Package adaptertest holds what adapters are tested with: Platform, a strict chat
// platform in memory that refuses what real ones refuse and remembers what a person
// would see; Adapter, the adapter for it; Memory, a store and output log in memory;
// and the conformance suites Run (of adapters.Adapter) and Store (of
// adapters.Store). It's test code in ordinary files, so that the packages of the
// platforms and the store can run the suites.
//
// An adapter for a real platform is tested against Platform through a face of that
// platform's API (an http.RoundTripper, say) that turns requests into Conn.Do.
package adaptertest
