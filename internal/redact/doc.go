// Package redact masks secrets in output before it leaves the host: keys, tokens,
// passwords, private keys, the daemon's own secrets, and what the configuration names.
//
// What lives here: the kinds of secret and how each is recognised, and a [Masker] that
// replaces them. What may not: where the text comes from and where it goes.
//
// # What a mask looks like
//
// What tells the kind of secret stays, the rest gives way to its name:
//
//	export GITHUB_TOKEN=ghp_…[masked: GitHub token]
//	psql postgres://app:…[masked: password]@db.internal/shop
//
// Where a secret is wrapped into the next row, that has "…[masked]". No line is added
// or taken away. Nothing of what is random in a secret is shown. Masking what's masked
// changes nothing, and what's masked in a line stays so whatever lines follow.
//
// # How it's used
//
//   - Lines of a log: [Masker.Lines]. It's given the lines to show with up to [Before]
//     lines before and [After] lines behind them, as far as the log has them. What's
//     masked in a line depends on those alone, so that a message rendered again shows
//     the same. A gap stands for an empty line. [LineWindow.Open] says that the last line
//     given is the newest of the log; then [Masked.Wait] is the first line that had
//     better wait for the next one, at most 2 s. Showing it anyway shows no secret: the
//     beginning of what may become one is masked, unless it's like a word.
//   - Whole texts and files: [Masker.Text]; [Masker.Line] for a text in a message.
//   - Screens and live regions: [Masker.Rows], which keeps columns and SGR sequences. It
//     should get the log's last lines too, because a secret may begin above the screen.
//   - The local page: [Masked.Masks], or [Masker.Find], say where secrets are.
//
// # How it works
//
// The rows are joined without the blanks and frames at their ends and without characters that
// nobody sees (text.go), so that a
// wrapped secret is in one piece but for a line feed. One pass of an automaton over it
// (automaton.go), to which a line feed is nothing, finds all anchors: prefixes
// (kinds.go), words that stand before secrets (assign.go, literal.go, tokens.go, url.go), commands that
// are given passwords and headers with cookies (commands.go), cookies elsewhere (cookies.go), BEGIN and
// END of blocks (pem.go), the beginnings of the daemon's own secrets (own.go). A matcher
// per anchor looks at what's around it. It follows the characters that the secret is
// made of, from row to row as long as the next row may go on with it (run.go). Whether
// they look drawn at random is decided by neighbouring characters (random.go). Each
// finding is cut into its rows; what's masked in a row depends on the findings in it
// alone (mask.go). No regular expression is used but those of the configuration.
//
// # Limits
//
// It finds what looks like a secret or stands where one does. A value that stands for itself is masked
// whatever it looks like where it's plainly given: how plainly is a setting (literal.go; settings.go for
// words without quotes; program.go for what programs have there), where it ends is a grammar (grammar.go), and lists, pairs and SQL have their own forms (structure.go),
// as have programs (code.go), YAML (yaml.go), columns of tables (columns.go), markup (markup.go), prose and
// other languages (prose.go), and pipes and files of accounts (piped.go).
// Elsewhere it's masked if it isn't like a name, a type, a count or what documentation has for a
// secret (url.go). Who can type into a session can make it print a secret in
// a form that nothing recognises.
package redact
