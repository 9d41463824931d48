package redisbucket

import (
	_ "embed"

	"github.com/redis/go-redis/v9"
)

//go:embed scripts/prelude.lua
var preludeSource string

//go:embed scripts/acquire.lua
var acquireSource string

//go:embed scripts/member.lua
var memberSource string

//go:embed scripts/admin.lua
var adminSource string

//go:embed scripts/look.lua
var lookSource string

// The scripts. They never change, so they're made once.
var (
	acquireScript = redis.NewScript(preludeSource + acquireSource) //nolint:gochecknoglobals // a constant
	memberScript  = redis.NewScript(preludeSource + memberSource)  //nolint:gochecknoglobals // a constant
	adminScript   = redis.NewScript(preludeSource + adminSource)   //nolint:gochecknoglobals // a constant
	lookScript    = redis.NewScript(preludeSource + lookSource)    //nolint:gochecknoglobals // a constant
)
