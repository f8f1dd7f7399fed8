package arch

import (
	"fmt"
	"slices"
	"strings"
)

// home says where a dependency, or a part of one, may be imported and why we
// have it. Where two rows match, the longer path wins.
type home struct {
	path  string
	at    []string // folders, each including its subfolders
	tests bool     // tests may import it anywhere
	why   string
}

// homes lists every third-party dependency.
var homes = []home{
	{path: "code.dny.dev/ssrf", at: []string{"internal/kit/guard"},
		why: "the list of non-public addresses, maintained from IANA's registries"},
	{path: "github.com/andybalholm/brotli", at: []string{"internal/stage/robot/client"},
		why: "sites send brotli"},
	{path: "github.com/blevesearch/snowballstem", at: []string{"internal/search/words"},
		why: "stemming in many languages, as Snowball defines it"},
	{path: "github.com/jackc/pgx", at: []string{"internal/port/store/postgres"},
		why: "the driver for PostgreSQL"},
	{path: "github.com/klauspost/compress",
		at:  []string{"internal/kit/pack", "internal/kit/unpack", "internal/stage/robot/client", "internal/stage/pages", "internal/front/serve"},
		why: "zstd, and gzip twice as fast as the standard library's"},
	{path: "github.com/nats-io/nats-server", at: []string{"internal/port/bus/natsbus"},
		why: "the bus of several processes, without a server to install"},
	{path: "github.com/nats-io/nats.go", at: []string{"internal/port/bus/natsbus"},
		why: "the bus of several processes"},
	{path: "github.com/pelletier/go-toml", at: []string{app},
		why: "the configuration file, with line and column of a mistake in it"},
	{path: "github.com/pressly/goose", at: []string{"internal/port/store"},
		why: "migrations, locked against each other on PostgreSQL"},
	{path: "github.com/prometheus/client_golang", at: []string{"internal/kit/obs"},
		why: "metrics in the Prometheus format"},
	{path: "github.com/spf13/cobra", at: []string{"cmd"},
		why: "the command line: subcommands, help, completion"},
	{path: "golang.org/x/image", at: []string{"internal/stage/media/picture"},
		why: "decodes WebP"},
	{path: "golang.org/x/net", at: []string{"internal/kit/link", "internal/stage/robot", "internal/stage/robot/client"},
		why: "IDNA, the public suffix list, proxies from the environment"},
	{path: "golang.org/x/net/html", at: []string{"internal/kit/markup"}, tests: true,
		why: "parses our own output as a browser does; never hostile input, because it is quadratic"},
	{path: "golang.org/x/sync", at: []string{"internal/stage/media/picture", "internal/stage/robot/client"},
		why: "a weighted semaphore that bounds the memory of pictures, not their number; one DNS lookup for all who wait for it"},
	{path: "golang.org/x/text", at: []string{"cmd", "internal/kit/charset", "internal/kit/markup"}, tests: true,
		why: "the character sets of the Web, Unicode normal forms"},
	{path: "google.golang.org/grpc", at: []string{"internal/search/fleet"},
		why: "queries between fronts and shards, with deadlines, cancellation and load"},
	{path: "google.golang.org/protobuf", at: []string{"internal/search/fleet/wire"},
		why: "the messages of these queries, which can gain fields while old and new processes talk"},
	{path: "modernc.org/sqlite", at: []string{"internal/port/store/sqlite"},
		why: "the store without a server, in pure Go"},
}

// mostDependencies bounds the direct dependencies.
const mostDependencies = 25

// homeOf returns the row for an import, nil if there is none.
func homeOf(importPath string) *home {
	var found *home
	for i, h := range homes {
		if within(importPath, h.path) && (found == nil || len(h.path) > len(found.path)) {
			found = &homes[i]
		}
	}
	return found
}

func atHome(f file, importPath string) bool {
	h := homeOf(importPath)
	return h != nil && (under(f.dir(), h.at...) || h.tests && strings.HasSuffix(f.path, "_test.go") || within(f.dir(), "test"))
}

// needless reports the rows of homes that no file needs.
func needless(files []file) []string {
	used := map[*home]bool{}
	for _, f := range files {
		paths, _ := f.imports()
		for _, p := range paths {
			used[homeOf(p)] = true
		}
	}
	var out []string
	for i := range homes {
		if !used[&homes[i]] {
			out = append(out, homes[i].path+": no longer imported; remove its row")
		}
	}
	return out
}

// dependencies checks go.mod against what the files import.
func dependencies(goMod string, files []file) []string {
	m := readMod(goMod)
	var wrong []string
	if m.replaced {
		wrong = append(wrong, "go.mod: replace makes the module unusable for others")
	}
	direct := map[string]bool{}
	for _, f := range files {
		paths, at := f.imports()
		for i, p := range paths {
			if _, ok := ours(p); ok || standard(p) {
				continue
			}
			if mod := m.providing(p); mod != "" {
				direct[mod] = true
			} else {
				wrong = append(wrong, fmt.Sprintf("%s: go.mod does not require %s", at[i], p))
			}
		}
	}
	for _, mod := range m.required {
		if homeOf(mod) == nil && (direct[mod] || !slices.Contains(m.indirect, mod)) {
			wrong = append(wrong, fmt.Sprintf("go.mod: %s has no row in test/arch/homes.go that says why we have it", mod))
		}
	}
	if len(direct) > mostDependencies {
		wrong = append(wrong, fmt.Sprintf("go.mod: %d direct dependencies, more than %d", len(direct), mostDependencies))
	}
	return wrong
}

// mod is the part of a go.mod that is checked.
type mod struct {
	required, indirect []string
	replaced           bool
}

func readMod(text string) mod {
	var m mod
	inside := false
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "replace":
			m.replaced = true
		case words[0] == "require" && words[1] == "(":
			inside = true
		case words[0] == ")":
			inside = false
		case words[0] == "require":
			m.add(words[1:])
		case inside:
			m.add(words)
		}
	}
	return m
}

func (m *mod) add(words []string) {
	m.required = append(m.required, words[0])
	if words[len(words)-1] == "indirect" {
		m.indirect = append(m.indirect, words[0])
	}
}

// providing returns the module that an import comes from, "" if none.
func (m mod) providing(importPath string) string {
	best := ""
	for _, r := range m.required {
		if within(importPath, r) && len(r) > len(best) {
			best = r
		}
	}
	return best
}
