package discord

// RightNames are the names of the permissions that the bot is invited with.
func RightNames() []string {
	var out []string
	for _, n := range needs {
		out = append(out, n.name)
	}
	return out
}
