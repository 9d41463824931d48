# panebridge. `make help` lists what there is; scripts/ holds what is longer
# than a line.

GO       ?= go
FUZZTIME ?= 10s
# Long enough for stable figures, short enough to run all of them while waiting.
BENCHTIME ?= 300ms
# What `make race` looks at. All takes more than half an hour on two cores.
RACEPACKAGES ?= ./...
# More flags for `make test`, such as -p 1: one package at a time. Tests wait, too: one package
# more at once than two processors.
TESTFLAGS ?= -p 3
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

COMMIT   ?= $(shell git rev-parse HEAD 2>/dev/null)

# Version and commit come from git here, so Go needn't ask git as well (and fail
# where the checkout belongs to somebody else).
BUILDFLAGS := -trimpath -buildvcs=false -ldflags "-X main.version=$(VERSION) -X main.commit=$(COMMIT)"

.DEFAULT_GOAL := help
# Every target is a sequence; run in parallel they'd only wait for each other.
.NOTPARALLEL:

.PHONY: help
help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-19s %s\n", $$1, $$2}' Makefile

.PHONY: demo
demo: ## see it work: installs tmux if it's missing, builds, starts the demo
	scripts/install.sh demo
	@$(MAKE) --no-print-directory build
	bin/panebridge demo

.PHONY: demo-telegram demo-discord
demo-telegram: ## the same in a stand-in for Telegram, without a token
demo-discord: ## the same in a stand-in for Discord, without a token
demo-telegram demo-discord:
	scripts/install.sh demo
	@$(MAKE) --no-print-directory build
	$(GO) build -o bin/chatdemo ./cmd/chatdemo
	bin/chatdemo -platform $(@:demo-%=%)

.PHONY: pictures
pictures: ## take docs/pictures anew, of the demos in a browser (installs chromium and emoji)
	scripts/install.sh pictures
	mkdir -p docs/pictures
	PANEBRIDGE_SCREENSHOTS="$(CURDIR)/docs/pictures" $(GO) test -count=1 -timeout 30m ./internal/demotest

.PHONY: run
run: build ## build and start the daemon with your configuration
	bin/panebridge run

.PHONY: build
build: ## build bin/panebridge and bin/pbbench
	CGO_ENABLED=0 $(GO) build $(BUILDFLAGS) -o bin/ ./cmd/panebridge ./cmd/pbbench

.PHONY: cross
cross: ## build for other systems, to see that it compiles, and vet what asks them
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) build ./...
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) vet ./internal/host/...
	CGO_ENABLED=0 GOOS=freebsd GOARCH=amd64 $(GO) build ./...
	CGO_ENABLED=0 GOOS=freebsd GOARCH=amd64 $(GO) vet ./internal/host/...
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) build ./...

.PHONY: cross-tests
cross-tests: ## vet all for other systems, tests too
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	CGO_ENABLED=0 GOOS=freebsd GOARCH=amd64 $(GO) vet ./...

.PHONY: release-snapshot
release-snapshot: ## archives, packages, formula and SBOMs of what's committed, into dist (builds goreleaser once: minutes)
	scripts/release.sh --snapshot

.PHONY: same-bytes
same-bytes: ## build a release twice, in two folders at two times, and compare each file
	scripts/same-bytes.sh

.PHONY: first-minute
first-minute: ## install a release in a clean Debian, be answered, remove it (root; installs mmdebstrap)
	scripts/first-minute.sh

# As root, and with what of dist is for this machine's processor. IMAGEFLAGS may name mirrors.
.PHONY: image
image: ## an OCI image of a release's package, made twice and tried (root; installs mmdebstrap, umoci, podman)
	scripts/install.sh image
	scripts/image.sh $(IMAGEFLAGS) --twice "$$(ls dist/panebridge_*_$$($(GO) env GOARCH).deb)" dist
	PANEBRIDGE_IMAGE="$$(ls "$(CURDIR)"/dist/*_linux_$$($(GO) env GOARCH).oci.tar)" $(GO) test -count=1 -run TestImage -v ./internal/installtest

.PHONY: check
check: fmt-check vet lint tidy-check generate-check test-short ## what every commit needs (at most 3 minutes)

# What takes longest comes first, so that no package is left to run alone at the end.
LONGEST := ./internal/app ./adapters/web ./qos/redisbucket ./internal/cli ./polling ./sessions/tmux ./sessions/agent \
	./internal/store ./adapters/discord ./adapters/telegram ./adapters/inbound ./qos

# make vet looks at what go test would look at again, memory is cheaper here than
# processor time, and a test's binary is linked a third faster without what only a debugger reads.
.PHONY: test
test: ## all tests with short counts; installs tmux, redis-server, faketime, chromium, nginx, ssh, espeak-ng if missing
	scripts/install.sh test
	GOGC=400 scripts/in-memory.sh $(GO) test -vet=off -ldflags=-s -count=1 -timeout 30m -parallel 8 $(TESTFLAGS) $(LONGEST) ./...

.PHONY: test-short
test-short: ## the quick tests alone
	$(GO) test -short ./...

.PHONY: test-agents
test-agents: ## the tests with the real agent programs (Linux; installs node, and 1.6 GB into .cache/agents)
	scripts/install.sh agents
	$(GO) run ./internal/agentlab/install
	PANEBRIDGE_AGENTS=1 $(GO) test -count=1 -timeout 150m -p 1 -run Live ./internal/agentlab ./internal/app

.PHONY: test-agents-latest
test-agents-latest: ## the same in the versions that npm serves today; docs/agents.md says what then
	scripts/install.sh agents
	$(GO) run ./internal/agentlab/install -latest
	PANEBRIDGE_AGENTS=latest $(GO) test -count=1 -timeout 150m -p 1 -run Live ./internal/agentlab ./internal/app

.PHONY: race
race: ## the quick tests under the race detector (installs a C compiler)
	scripts/install.sh race
	CGO_ENABLED=1 scripts/in-memory.sh $(GO) test -race -short -timeout 15m $(TESTFLAGS) $(RACEPACKAGES)

.PHONY: stress
stress: ## all tests with full counts and a fresh seed, one package at a time, then every fuzz target for 30 s
	scripts/install.sh test
	PANEBRIDGE_STRESS=1 $(GO) test -count=1 -timeout 80m -p 1 ./...
	scripts/fuzz-short.sh 30s

.PHONY: bench
bench: build ## Go benchmarks, then short runs of pbbench
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -timeout 30m -p 1 ./...
	bin/pbbench capture
	bin/pbbench latency
	bin/pbbench loss
	bin/pbbench qos
	bin/pbbench inbox --sends 100
	bin/pbbench years --mb 500
	bin/pbbench terminal --keys 40 --seconds 24

.PHONY: lint
lint: ## golangci-lint and actionlint, installed into .cache/tools the first time (some minutes)
	"$$(scripts/tools.sh golangci-lint)" run ./...
	"$$(scripts/tools.sh actionlint)" -shellcheck= -pyflakes= .github/workflows/*.yml

.PHONY: vet
vet: ## go vet
	$(GO) vet ./...

.PHONY: fuzz-short
fuzz-short: ## every fuzz target for FUZZTIME (10s)
	scripts/fuzz-short.sh $(FUZZTIME)

.PHONY: generate
generate: ## write the generated files anew
	$(GO) generate ./...

.PHONY: generate-check
generate-check: ## fail if a generated file is out of date
	scripts/generate-check.sh

.PHONY: tidy-check
tidy-check: ## fail if go.mod isn't tidy or a module was tampered with
	$(GO) mod tidy -diff
	$(GO) mod verify

.PHONY: fmt
fmt: ## format all Go files
	"$$(scripts/tools.sh golangci-lint)" fmt ./...

.PHONY: fmt-check
fmt-check: ## fail if a Go file isn't formatted
	scripts/fmt-check.sh

.PHONY: clean
clean: ## remove what was built and the installed tools
	rm -rf bin .cache
