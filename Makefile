# `make` alone lists the targets. Building needs only Go.

GOLANGCI := v2.15.0
LINTER   := bin/golangci-lint-$(GOLANGCI)
FUZZTIME ?= 30s
# Where git does not work (a checkout owned by another user), the commit is left out.
BUILD    := go build $(shell git status >/dev/null 2>&1 || echo -buildvcs=false)

# A release has no C, no local paths and no build ID, so that the same commit and the
# same version of Go give the same bytes on any machine. Its version is what Go reads
# from git; Go settings of the machine are overridden.
PLATFORMS ?= linux/amd64 linux/arm64
RELEASE    = CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0 GOFLAGS='-trimpath -buildvcs=auto' $(BUILD) -ldflags '-s -w -buildid='

# Under the race detector, Go 1.26 sometimes crashes when two goroutines of one
# testing/synctest bubble run timers at once, because they share a race context
# (runtime/time.go, unlockAndRun). So packages with fake time are tested with -cpu 1.
PACKAGES = $(shell go list ./... | sed 's|^[^/]*/[^/]*/[^/]*|.|')
BUBBLES  = $(shell grep -rl --include='*.go' '^	"testing/synctest"' cmd internal test | xargs -n 1 dirname | sort -u | sed 's|^|./|')

.PHONY: help run build release test check fmt vet lint arch tools bench fuzz clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 15

run: build ## build and run everything in one process, with a sample web to collect
	bin/courant run --sample

build: ## build bin/courant
	$(BUILD) -o bin/courant ./cmd/courant

release: ## build stripped, reproducible binaries into bin/release, with SHA256SUMS and licences
	rm -rf bin/release
	@set -e; for p in $(PLATFORMS); do \
		echo "bin/release/courant-$${p%/*}-$${p#*/}"; \
		GOOS=$${p%/*} GOARCH=$${p#*/} $(RELEASE) -o "bin/release/courant-$${p%/*}-$${p#*/}" ./cmd/courant; \
	done
	cp LICENSE NOTICE bin/release
	@go list -deps -f '{{with .Module}}{{.Path}} {{.Dir}} {{.Version}}{{end}}' ./cmd/courant | sort -u | { \
		printf '\n==== Go\n\n'; cat "$$(go env GOROOT)/LICENSE"; \
		while read -r module dir version; do test -z "$$version" || \
			find "$$dir" -maxdepth 1 \( -name 'LICENSE*' -o -name 'COPYING*' -o -name 'NOTICE*' \) | LC_ALL=C sort | while read -r file; do \
				printf '\n==== %s %s, %s\n\n' "$$module" "$$version" "$${file##*/}"; cat "$$file"; \
			done; \
		done; } >bin/release/THIRD-PARTY-LICENSES
	cd bin/release && { sha256sum courant-* || shasum -a 256 courant-*; } >SHA256SUMS 2>/dev/null

test: tools check ## install what the tests need, then run check

check: fmt vet lint arch ## format, vet, linters, architecture, all tests under the race detector
	go test -race -cpu 1 $(BUBBLES)
	go test -race $(filter-out $(BUBBLES),$(PACKAGES))

tools: $(LINTER) ## install the linter into bin/ and, as root, PostgreSQL and a C compiler
	@.ci/packages

bench: ## run all benchmarks
	go test -run '^$$' -bench . -benchmem ./...

proto: ## regenerate the Go code of search.proto (protoc, protoc-gen-go 1.36, protoc-gen-go-grpc 1.6)
	cd internal/search/fleet/wire && protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative search.proto

fuzz: ## run every fuzz target for FUZZTIME (30s)
	@set -e; for p in $$(go list ./...); do \
		for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
			go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p; \
		done; \
	done

clean: ## remove bin/; the data folder stays
	rm -rf bin

fmt:
	@files=$$(gofmt -l .); test -z "$$files" || { echo "gofmt -w $$files"; exit 1; }

vet:
	go vet ./...

lint:
	@test -x $(LINTER) || { echo "the linter is missing: make tools"; exit 1; }
	$(LINTER) run

arch:
	go test -race ./test/arch

$(LINTER):
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI)
	mv bin/golangci-lint $@
