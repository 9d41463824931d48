package demoagent

// GetTermios is the request that reads a terminal's mode on this system.
const GetTermios = getTermios
