package discord

// RightNames are the names of the permissions that the bot is invited with.
func RightNames() []string {
	var out []string
	for _, n := range neededRights {
		out = append(out, n.name)
	}
	return out
}

// Shared reports whether another program uses the bot, as far as is known.
func (a *Adapter) Shared() bool { return a.sharing.shared() }
