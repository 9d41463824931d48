package archtest

// module is the path of our module; packages are named relative to it.
const module = "github.com/panebridge/panebridge"

// domain is what the inner parts of the daemon may know: what a session is,
// how it's read, how its output is scheduled and where it goes.
var domain = []string{"sessions", "polling", "qos", "adapters"}

// everything lets a package import any package of ours.
const everything = "*"

// rules says, for each package of ours, which others of ours it may import.
// A key that ends in "/*" holds for all packages one level below, unless they
// have an entry of their own. The same rules hold for a package's own tests, which
// may also import conformance suites (packages whose name ends in "test"); tests
// from outside (package x_test) may put a part together with real neighbours.
//
// A conformance suite without an entry may import its parent and what its
// parent may. Code may import one only if its entry names it.
var rules = map[string][]string{
	// The way in.
	"cmd/panebridge": {"internal/cli"},
	"cmd/pbdocs":     {"internal/cli"}, // man pages and completions, for packages
	"cmd/pbbench":    {"config", "adapters/all", "qos", "sessions", "sessions/tmux", "polling", "internal/store", "internal/inbox", "internal/app", "internal/api", "internal/api/client", "internal/qosbench", "internal/qostrace", "internal/redistest", "internal/search", "internal/statedir", "internal/storebench"},

	"cmd/chatdemo": {"adapters/discord/discordtest", "adapters/telegram/telegramtest", "internal/memnet"}, // the stand-ins are what it shows

	// The roots: they import nothing of ours.
	"config":              {},
	"config/internal/gen": {"adapters/all"}, // go generate's program
	"sessions":            {},
	"qos":                 {},

	"sessions/*":                {"sessions", "internal/host"},
	"sessions/agent":            {"sessions", "sessions/transcript", "internal/host", "internal/regular", "internal/render/sgr"},
	"sessions/transcript":       {"sessions", "internal/host", "internal/regular"},
	"sessions/tmux":             {"sessions", "internal/host", "internal/regular"},
	"sessions/typing":           {"sessions"},
	"sessions/agent/dialogtest": {}, // dialogs of programs that nobody knows
	"polling":                   {"sessions"},
	"qos/redisbucket":           {"qos", "internal/regular"},
	"adapters":                  {"qos", "sessions", "internal/render", "internal/render/sgr", "internal/redact"},
	"adapters/*":                {"config", "adapters", "adapters/exchange", "adapters/intake", "adapters/platform", "qos", "sessions", "internal/findings", "internal/regular", "internal/render", "internal/redact"}, // a platform
	"adapters/adaptertest":      {"adapters", "qos", "qos/qostest", "sessions", "internal/drawtest"},
	"adapters/platformtest":     {"adapters", "adapters/adaptertest", "adapters/access", "adapters/inbound", "adapters/intake", "qos", "sessions", "internal/drawtest", "internal/faults", "internal/recording", "internal/render", "internal/render/rendertest", "internal/store", "internal/store/storetest"},

	"adapters/intake":           {"adapters", "sessions"},
	"adapters/exchange":         {"adapters", "qos", "sessions"},
	"adapters/wording":          {},
	"adapters/access":           {"adapters", "adapters/intake", "adapters/wording", "sessions"},
	"adapters/cards":            {"adapters", "adapters/access", "adapters/intake", "adapters/wording", "qos", "sessions", "internal/render/screenshot"},
	"adapters/commands":         {"adapters", "adapters/access", "adapters/cards", "adapters/intake", "adapters/wording", "qos", "sessions", "internal/regular", "internal/render/screenshot", "internal/render/sgr", "internal/search"},
	"adapters/inbound":          {"adapters", "adapters/access", "adapters/cards", "adapters/commands", "adapters/intake", "adapters/wording", "qos", "sessions", "internal/regular", "internal/render/screenshot"},
	"adapters/all":              {everything},                                                                                                               // the list of platforms
	"adapters/platform":         {"config", "adapters", "adapters/exchange", "adapters/intake", "qos", "sessions", "internal/findings", "internal/regular"}, // what all know of one
	"internal/findings":         {"internal/regular"},
	"adapters/web":              {"internal/render", "internal/render/sgr"},
	"adapters/web/internal/gen": {}, // go generate's program
	"adapters/telegram":         {"config", "adapters", "adapters/platform", "internal/findings", "adapters/exchange", "adapters/intake", "qos", "sessions", "internal/render", "internal/render/entities", "internal/redact"},
	"adapters/discord":          {"config", "adapters", "adapters/platform", "internal/findings", "adapters/exchange", "adapters/intake", "qos", "sessions", "internal/render", "internal/render/discord", "internal/redact"},

	"adapters/telegram/telegramtest": {"internal/chatview", "internal/faults"}, // nothing else of ours: it doesn't share our mistakes
	"adapters/discord/discordtest":   {"internal/chatview", "internal/faults"},

	"internal/api":           append([]string{"adapters/access", "internal/api/client", "internal/browsers", "internal/diffs", "internal/inbox", "internal/host", "internal/push", "internal/recording/format", "internal/redact", "internal/render", "internal/render/sgr", "internal/search", "internal/toolview", "sessions/agent", "sessions/viewing"}, domain...),
	"internal/api/client":    append([]string{"internal/api", "internal/inbox", "internal/recording/format", "sessions/agent"}, domain...),
	"internal/store":         append([]string{"adapters/access", "adapters/cards", "adapters/inbound", "adapters/intake", "internal/browsers", "internal/inbox", "internal/push", "internal/regular"}, domain...),
	"internal/callers":       {"internal/api", "internal/host", "sessions", "sessions/agent", "sessions/tmux"},
	"internal/masked":        {"adapters", "internal/api", "internal/callers", "internal/redact", "internal/search", "internal/store", "internal/toolview", "sessions"},
	"internal/metrics":       {"internal/events", "qos", "qos/redisbucket", "sessions"},
	"internal/continuing":    {"sessions", "internal/drawtest", "internal/store", "internal/store/storetest"}, // all but sessions: its tests
	"internal/showing":       {"sessions", "internal/drawtest", "internal/store", "internal/store/storetest"}, // all but sessions: its tests
	"internal/forgetting":    {"adapters", "adapters/inbound", "internal/search", "internal/store", "sessions"},
	"internal/mailroom":      {"adapters", "adapters/commands", "internal/inbox", "internal/statedir", "internal/store", "sessions", "sessions/agent"},
	"internal/trips":         {}, // reads the program, and is none of it
	"internal/redisbots":     {"adapters/all", "adapters/telegram", "config", "internal/api", "internal/findings", "internal/regular", "qos", "qos/redisbucket"},
	"internal/recorder":      {"internal/recording/format", "internal/redact", "sessions", "sessions/agent", "sessions/tmux", "sessions/transcript"},
	"internal/ttywatch":      {},
	"internal/events":        {}, // names of the log's events
	"internal/probes":        {}, // knows no part but by what it answers
	"internal/voice":         {"internal/findings", "internal/regular"},
	"internal/push":          {"adapters/cards", "adapters/wording", "internal/memnet", "sessions"}, // memnet: its tests
	"internal/push/pushtest": {},                                                                    // nothing else of ours: it doesn't share our mistakes
	"sessions/viewing":       {"polling", "sessions"},
	"internal/statedir":      {"internal/inbox", "internal/regular", "internal/search", "internal/store"},
	"internal/inbox":         {"sessions", "internal/host", "internal/regular"},
	"internal/browsers":      {"sessions", "adapters/access"},
	"internal/search":        {"internal/regular", "sessions"},
	"internal/toolview":      {"internal/redact", "internal/render/sgr", "sessions"},
	"internal/diffs":         {"internal/drawtest", "internal/regular", "internal/toolview", "sessions"}, // drawtest: its tests
	"internal/service":       {"internal/drawtest", "internal/regular"},                                  // drawtest: its tests
	"internal/host":          {},                                                                         // what the machine says of processes, terminals and connections

	// Tools that know nothing of the daemon.
	"internal/demoagent":             {"internal/host"},
	"internal/chatview":              {}, // shows the stand-ins
	"internal/chatview/chatviewtest": {"internal/browsertest", "internal/chatview"},
	"internal/faults":                {}, // has their calls fail
	"internal/memnet":                {}, // serves the stand-ins
	"internal/redact":                {},
	"internal/regular":               {"internal/host"}, // which folders are the kernel's
	"internal/redistest":             {},                // real Redis servers for tests and benchmarks
	"internal/render":                {"sessions"},

	// Real agents for tests: recorded, and live.
	"internal/recording":        {"sessions", "internal/recording/format"},
	"internal/recording/format": {"sessions"}, // without the recordings: the program writes some, too
	"internal/recording/gen":    {"internal/recording", "sessions", "sessions/tmux"},
	"internal/browsertest":      {},
	"internal/drawtest":         {},                     // what tests draw, and how it's repeated
	"internal/standin":          {"internal/recording"}, // played, with dialogs that take keys
	"internal/agentlab":         {"internal/recording", "sessions"},
	"internal/agentlab/install": {"internal/agentlab"},

	"internal/render/*":          {"sessions", "internal/render"},
	"internal/render/rendertest": {"sessions", "internal/render", "internal/drawtest"},
	"internal/render/screenshot": {"sessions", "internal/render/sgr"},

	// The scheduler against others, in virtual time.
	"internal/qosbench": {"qos", "qos/redisbucket", "internal/qostrace"},
	"internal/qostrace": {"qos", "internal/regular"}, // what a scheduler was told and did

	// Databases as they are after years.
	"internal/storebench": {"sessions", "polling", "internal/store"},

	// The wiring, and the command line on top of it.
	"internal/app": {everything},
	"internal/cli": {"config", "internal/findings", "internal/host", "internal/redisbots", "adapters/all", "adapters/intake", "adapters/platform", "sessions", "sessions/agent", "sessions/tmux", "sessions/typing", "internal/api", "internal/api/client", "internal/app", "internal/demoagent", "internal/events", "internal/inbox", "internal/recording/format", "internal/regular", "internal/service", "internal/statedir", "internal/store", "qos"},

	"internal/archtest": {},
	"internal/doctest":  {},
	"internal/demotest": {"internal/browsertest"},

	"internal/installtest": {"adapters/telegram/telegramtest"}, // who's told of sessions by what was installed
}

// outside names packages from elsewhere that only some packages of ours may
// import, with all below them; and the conformance suites below those.
var outside = map[string][]string{
	"database/sql":                  databases,
	"modernc.org/sqlite":            databases,
	"github.com/bwmarrin/discordgo": {"adapters/discord"},
	"github.com/gorilla/websocket":  {"adapters/discord", "sessions/agent"}, // Codex' app server speaks it
	"github.com/evanw/esbuild":      {"adapters/web/internal/gen"},
	"gonum.org/v1/plot":             {"cmd/pbbench"},         // the program itself has no use for it
	"github.com/spf13/cobra/doc":    {"cmd/pbdocs"},          // nor for this
	"github.com/tidwall/gjson":      {"sessions/transcript"}, // what isn't read at speed is decoded by encoding/json
}

// databases is our own store, the index of what's in it, and who reads or plays back opencode's, which keeps
// its conversations in one.
var databases = []string{"internal/store", "internal/search", "sessions/transcript", "internal/recording"}
