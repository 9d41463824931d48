package discordtest

import (
	"net/http"
	"net/url"
	"strings"
)

// route is one call that's understood.
type route struct {
	name, method string
	parts        []string // of the path below the version; {x} stands for anything
	run          func(*call) (any, *refusal)
	bucket       string // the call whose bucket it shares; empty for its own
	created      bool   // success is 201
	open         bool   // it needs no token of the bot
	free         bool   // it doesn't count in the global limit
}

// match finds the route of a request; known says whether the address exists.
func (s *Server) match(method, path string) (found *route, vars map[string]string, known bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i := range s.routes {
		r := &s.routes[i]
		values, ok := r.fits(parts)
		if !ok {
			continue
		}
		known = true
		if r.method == method {
			return r, values, true
		}
	}
	return nil, nil, known
}

func (r *route) fits(parts []string) (map[string]string, bool) {
	if len(parts) != len(r.parts) {
		return nil, false
	}
	vars := map[string]string{}
	for i, want := range r.parts {
		name, isVar := strings.CutPrefix(want, "{")
		if !isVar {
			if parts[i] != want {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(parts[i])
		if err != nil || value == "" {
			return nil, false
		}
		vars[strings.TrimSuffix(name, "}")] = value
	}
	return vars, true
}

// routeTable is what's understood. Where two routes fit, the first one does.
func (s *Server) routeTable() []route {
	var table []route
	add := func(name, method, path string, run func(*call) (any, *refusal)) *route {
		table = append(table, route{name: name, method: method, parts: strings.Split(strings.Trim(path, "/"), "/"), run: run})
		return &table[len(table)-1]
	}
	s.addWorldRoutes(add)
	s.addChannelRoutes(add)
	s.addMessageRoutes(add)
	s.addInteractionRoutes(add)
	s.addCommandRoutes(add)
	return table
}

// adder adds a route to the table; what it returns holds until the next one.
type adder func(name, method, path string, run func(*call) (any, *refusal)) *route

func (s *Server) addWorldRoutes(add adder) {
	add("GetGateway", http.MethodGet, "/gateway", s.getGateway).open = true
	add("GetGatewayBot", http.MethodGet, "/gateway/bot", s.getGatewayBot)
	add("GetMe", http.MethodGet, "/users/@me", s.getMe)
	add("GetMyGuilds", http.MethodGet, "/users/@me/guilds", s.getMyGuilds)
	add("CreateDM", http.MethodPost, "/users/@me/channels", s.createDM)
	add("GetApplication", http.MethodGet, "/applications/@me", s.getApplication)
	add("GetApplication", http.MethodGet, "/oauth2/applications/@me", s.getApplication)
	add("GetGuild", http.MethodGet, "/guilds/{guild}", s.getGuild)
	add("GetGuildChannels", http.MethodGet, "/guilds/{guild}/channels", s.getGuildChannels)
	add("GetActiveThreads", http.MethodGet, "/guilds/{guild}/threads/active", s.getActiveThreads)
	add("GetMember", http.MethodGet, "/guilds/{guild}/members/{user}", s.getMember)
	add("GetRoles", http.MethodGet, "/guilds/{guild}/roles", s.getRoles)
}

func (s *Server) addChannelRoutes(add adder) {
	add("GetChannel", http.MethodGet, "/channels/{channel}", s.getChannel)
	add("EditChannel", http.MethodPatch, "/channels/{channel}", s.editChannel)
	add("DeleteChannel", http.MethodDelete, "/channels/{channel}", s.deleteChannel)
	add("StartThread", http.MethodPost, "/channels/{channel}/threads", s.startThread).created = true
	r := add("StartThreadFromMessage", http.MethodPost, "/channels/{channel}/messages/{message}/threads", s.startThreadFromMessage)
	r.created, r.bucket = true, "StartThread"
	add("GetArchivedThreads", http.MethodGet, "/channels/{channel}/threads/archived/public", s.getArchivedThreads)
	add("JoinThread", http.MethodPut, "/channels/{channel}/thread-members/@me", s.joinThread)
	add("Typing", http.MethodPost, "/channels/{channel}/typing", s.typing)
}

func (s *Server) addMessageRoutes(add adder) {
	add("GetMessages", http.MethodGet, "/channels/{channel}/messages", s.getMessages)
	add("CreateMessage", http.MethodPost, "/channels/{channel}/messages", s.createMessage)
	add("BulkDelete", http.MethodPost, "/channels/{channel}/messages/bulk-delete", s.bulkDelete)
	add("GetMessage", http.MethodGet, "/channels/{channel}/messages/{message}", s.getMessage)
	add("EditMessage", http.MethodPatch, "/channels/{channel}/messages/{message}", s.editMessage)
	add("DeleteMessage", http.MethodDelete, "/channels/{channel}/messages/{message}", s.deleteMessage)
	add("Pin", http.MethodPut, "/channels/{channel}/messages/pins/{message}", s.pin)
	add("React", http.MethodPut, "/channels/{channel}/messages/{message}/reactions/{emoji}/@me", s.react)
	add("Unreact", http.MethodDelete, "/channels/{channel}/messages/{message}/reactions/{emoji}/@me", s.unreact).bucket = "React"
}

// addInteractionRoutes: "Interaction endpoints are not bound to the bot's Global
// Rate Limit", and need no token but the interaction's
// (docs.discord.com/developers/interactions/receiving-and-responding).
func (s *Server) addInteractionRoutes(add adder) {
	free := func(name, method, path string, run func(*call) (any, *refusal)) *route {
		r := add(name, method, path, run)
		r.open, r.free = true, true
		return r
	}
	free("Callback", http.MethodPost, "/interactions/{interaction}/{token}/callback", s.callback)
	const original = "/webhooks/{application}/{token}/messages/@original"
	free("GetOriginal", http.MethodGet, original, s.getOriginal)
	free("EditOriginal", http.MethodPatch, original, s.editOriginal).bucket = "EditFollowup"
	free("DeleteOriginal", http.MethodDelete, original, s.deleteOriginal)
	free("CreateFollowup", http.MethodPost, "/webhooks/{application}/{token}", s.createFollowup)
	const followup = "/webhooks/{application}/{token}/messages/{message}"
	free("GetFollowup", http.MethodGet, followup, s.getFollowup)
	free("EditFollowup", http.MethodPatch, followup, s.editFollowup)
	free("DeleteFollowup", http.MethodDelete, followup, s.deleteFollowup)
}

func (s *Server) addCommandRoutes(add adder) {
	for _, path := range []string{"/applications/{application}/commands", "/applications/{application}/guilds/{guild}/commands"} {
		add("GetCommands", http.MethodGet, path, s.getCommands)
		add("SetCommands", http.MethodPut, path, s.setCommands)
		add("CreateCommand", http.MethodPost, path, s.createCommand).created = true
		add("EditCommand", http.MethodPatch, path+"/{command}", s.editCommand)
		add("DeleteCommand", http.MethodDelete, path+"/{command}", s.deleteCommand)
	}
}
