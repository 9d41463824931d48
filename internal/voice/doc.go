// Package voice makes text of what people speak, by a command or by an address that takes what OpenAI's
// /v1/audio/transcriptions takes. Audio leaves the machine only where an address is configured.
package voice
