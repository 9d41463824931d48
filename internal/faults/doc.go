// Package faults is what the stand-ins for chat platforms share of what a test has go
// wrong with calls: which fault hits which call, for how often, and what happens on the
// way of a call, whatever the platform. What a platform answers is its stand-in's.
// Nothing of it is for production.
package faults
