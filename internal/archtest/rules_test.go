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
	"cmd/pbbench":    {"config", "sessions", "sessions/tmux", "polling", "internal/store", "internal/app", "internal/api", "internal/api/client", "internal/qosbench"},

	"cmd/telegramdemo": {"adapters/telegram/telegramtest"}, // the stand-in is what it shows

	// The roots: they import nothing of ours.
	"config":              {},
	"config/internal/gen": {"config"}, // go generate's program
	"sessions":            {},
	"qos":                 {},

	"sessions/*":        {"sessions"},
	"polling":           {"sessions"},
	"qos/redisbucket":   {"qos"},
	"adapters":          {"qos", "sessions", "internal/render", "internal/redact"},
	"adapters/*":        {"adapters", "qos", "sessions", "internal/render", "internal/redact"},
	"adapters/inbound":  {"adapters", "qos", "sessions", "internal/render/screenshot", "internal/render/sgr"},
	"adapters/telegram": {"adapters", "adapters/inbound", "qos", "sessions", "internal/render", "internal/render/entities", "internal/redact"},

	"internal/api":        append([]string{"internal/api/client", "internal/render/sgr"}, domain...),
	"internal/api/client": append([]string{"internal/api"}, domain...),
	"internal/store":      append([]string{"adapters/inbound"}, domain...),
	"internal/inbox":      domain,

	// Tools that know nothing of the daemon.
	"internal/demoagent": {},
	"internal/redact":    {},
	"internal/render":    {"sessions"},

	"internal/render/*":          {"sessions", "internal/render"},
	"internal/render/screenshot": {"sessions", "internal/render/sgr"},

	// The scheduler against others, in virtual time.
	"internal/qosbench": {"qos"},

	// The wiring, and the command line on top of it.
	"internal/app": {everything},
	"internal/cli": {"config", "sessions", "sessions/tmux", "internal/api", "internal/api/client", "internal/app", "internal/demoagent"},

	"internal/archtest": {},
}

// outside names packages from elsewhere that only one package of ours may
// import, with all below them.
var outside = map[string]string{
	"database/sql":       "internal/store",
	"modernc.org/sqlite": "internal/store",
}
