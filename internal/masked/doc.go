// Package masked shows parts of the daemon without their secrets: what chats see of sessions,
// questions and stored lines, and what's logged.
package masked
