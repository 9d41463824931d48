// Package agentlab runs real agent programs (Claude Code, Codex, Gemini CLI,
// opencode, Qwen Code, pi) against a scripted model, so that tests see their
// true screens, dialogs, hooks and transcripts, with no account and no network.
//
// The model is part of the test's process and keeps the truth: when each request
// came, when its answer began and ended, which tools it called and what exactly
// it said, by the clock that the test uses. The program runs in a pane of a tmux
// server that the test names, with a home folder of its own, inside a network
// namespace that has nothing but a loopback interface, where only the model
// listens.
//
// It needs Linux, tmux, node 20 or newer with npm, and unshare and nsenter (as
// root, or with user namespaces allowed). The programs are installed into
// .cache/agents, in the versions that are pinned here; a newer one may show new
// dialogs when it starts. With PANEBRIDGE_AGENTS=latest they run in the versions
// that npm served when `make test-agents-latest` asked for them.
//
// Hooks run inside the namespace: they reach a daemon by its Unix socket, not by
// a TCP port.
//
// This is test code in ordinary files.
package agentlab
