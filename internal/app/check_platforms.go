package app

import (
	"context"
	"errors"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/qos"
)

// CheckConfig says what's wrong with a configuration beyond its form, as a daemon would that
// begins with it: all problems of a kind at once, in its file.
func CheckConfig(cfg *config.Config, file string, env config.Env) error {
	for _, check := range []func(*config.Config, string, config.Env) error{CheckPlatforms, checkMirrors, CheckSecrets, CheckProfiles} {
		if err := check(cfg, file, env); err != nil {
			return err
		}
	}
	return nil
}

// CheckPlatforms says what's wrong with the chat platforms of a configuration that are
// enabled: a token that can't be read or is none, a proxy that's no address.
func CheckPlatforms(cfg *config.Config, file string, env config.Env) error {
	_, found := platformsOf(cfg)
	return locateProblems(found, file, env)
}

// platformsOf makes the adapters of a configuration, which connect to nothing, or says why
// they can't be made.
func platformsOf(cfg *config.Config) (made []adapters.Adapter, found []config.Problem) {
	host := platform.Host{Knows: func(adapters.Target) bool { return true }} // which chats have let the bot in, only the store can say
	for _, p := range enabled(cfg) {
		one, err := p.New(context.Background(), section(cfg, p), host) // it reads and calls nothing
		if err == nil {
			made = append(made, one.Outbound())
			continue
		}
		if unread, ok := errors.AsType[*platform.TokenFileError](err); ok {
			found = append(found, config.Problem{Path: "adapters." + p.Name + ".token_file", Message: unread.Why.Error()})
			continue
		}
		for _, one := range joined(errors.Unwrap(err)) {
			found = append(found, config.Problem{Path: "adapters." + p.Name, Message: one.Error()})
		}
	}
	return made, found
}

// joined are the errors that were joined to one.
func joined(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()
	}
	return []error{err}
}

// checkMirrors says which mirrors go to a platform that's off, or to what's no chat there.
func checkMirrors(cfg *config.Config, file string, env config.Env) error {
	made, _ := platformsOf(cfg) // what's wrong with them is said before
	settings, err := hubSettings(cfg)
	if err != nil {
		return err
	}
	opt := adapters.HubOptions{Settings: settings}
	for _, a := range made {
		opt.Outlets = append(opt.Outlets, adapters.Outlet{Adapter: a, Budget: qos.NewLocalBudget(nil)})
	}
	_, err = adapters.NewHub(opt)
	var errs []error
	for i, r := range settings.Rules {
		for _, a := range made {
			if a.Name() != r.To.Adapter {
				continue
			}
			if bad := a.Check(r.To); bad != nil {
				errs = append(errs, &adapters.RuleError{Index: i, Err: bad})
			}
		}
	}
	if err = errors.Join(append(errs, err)...); err == nil {
		return nil
	}
	if found, all := problems(err, ""); all {
		return locateProblems(found, file, env)
	}
	return err
}
