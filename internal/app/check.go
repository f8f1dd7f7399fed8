package app

import (
	"cmp"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/guard"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/setting"
)

// validate checks what can be checked before anything starts.
func (c Config) validate() error {
	for _, check := range []func() error{c.validateValues, c.validateHTTP, c.validatePorts, c.validateUnits, c.validateTimes, c.validateCounts, c.validateIndex} {
		if err := check(); err != nil {
			return err
		}
	}
	_, err := c.exempts()
	return err
}

func invalid(format string, args ...any) error {
	return courant.Errorf(courant.Invalid, format, args...)
}

func conflict(format string, args ...any) error {
	return courant.Errorf(courant.Conflict, format, args...)
}

// most are the largest values of counts; others may be up to a thousand million.
var most = map[string]int64{
	"http.connections_per_client": 100_000, "store.connections": 10_000, "bus.replicas": 5,
	"robot.connections": 100_000, "robot.connections_per_host": 100,
	"parse.workers": 1024, "media.workers": 1024, "media.max_pictures": 10_000, "pages.workers": 10_000,
}

// validateValues rejects values that no setting of their type may have.
func (c Config) validateValues() error {
	for _, k := range c.keys() {
		switch v := k.value.Interface().(type) {
		case string:
			if err := plain(k.name, v); err != nil {
				return err
			}
		case []string:
			for _, s := range v {
				if err := plain(k.name, s); err != nil {
					return err
				}
			}
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return invalid("%s must be a number, not %v", k.name, v)
			}
		case setting.Size:
			if v < 0 {
				return invalid("%s must be a size such as \"10MiB\", not %d", k.name, int64(v))
			}
		case int:
			if most := cmp.Or(most[k.name], 1_000_000_000); v < 0 || int64(v) > most {
				return invalid("%s must be from 0 to %d, not %d", k.name, most, v)
			}
		}
	}
	return nil
}

// plain rejects control characters: a setting may be sent in a header.
func plain(name, value string) error {
	if strings.ContainsFunc(value, unicode.IsControl) {
		return invalid("%s must not have line breaks or other control characters: %q", name, link.Redact(value))
	}
	return nil
}

func (c Config) validateHTTP() error {
	host, _, err := net.SplitHostPort(c.HTTP.Listen)
	if err != nil {
		return invalid("http.listen must be an address such as 127.0.0.1:8080, not %q", c.HTTP.Listen)
	}
	ip, err := netip.ParseAddr(host)
	local := host == "localhost" || err == nil && ip.IsLoopback()
	if !local && len(c.HTTP.Password) < 12 {
		return invalid("http.listen: other machines can reach %s, so http.admin_password must be set, to 12 characters or more", c.HTTP.Listen)
	}
	if u, err := url.Parse(c.HTTP.PublicURL); c.HTTP.PublicURL != "" && (err != nil || u.Host == "" || !strings.HasPrefix(u.Scheme, "http")) {
		return invalid("http.public_url must be a URL such as https://news.example.org, not %q", c.HTTP.PublicURL)
	}
	if _, err := c.proxies(); err != nil {
		return err
	}
	switch c.Log.Level {
	case "debug", "info", "warn", "error":
		return nil
	}
	return invalid("log.level must be debug, info, warn or error, not %q", c.Log.Level)
}

func (c Config) validatePorts() error {
	switch c.Bus.Kind {
	case "memory", "nats":
	default:
		return invalid("bus.kind must be memory or nats, not %q", c.Bus.Kind)
	}
	for name, file := range map[string]string{"creds": c.Bus.Creds, "tls_ca": c.Bus.TLSCA} {
		if f, err := os.Open(file); file != "" && err != nil {
			return invalid("bus.%s: %w", name, err)
		} else if err == nil {
			f.Close()
		}
	}
	if c.Bus.MaxBytes < 1<<20 {
		return invalid("bus.max_bytes must be at least 1MiB, not %d bytes", c.Bus.MaxBytes)
	}
	for name, u := range map[string]string{"url": c.Store.URL, "migrate_url": c.Store.MigrateURL} {
		if u != "" && !strings.HasPrefix(u, "postgres://") && !strings.HasPrefix(u, "postgresql://") && !strings.Contains(u, "=") {
			return invalid("store.%s must be a PostgreSQL URL such as postgres://user@host/name, not %q", name, link.Redact(u))
		}
	}
	if c.Store.Pooler && c.Store.MigrateURL == "" {
		return invalid("store.pooler: set store.migrate_url to the address of the database itself, because migrations cannot pass through a pooler")
	}
	return nil
}

// shortestAge is the least time for which something can be kept: most of what is deleted
// may still be in use a few minutes after it was written.
const shortestAge = time.Hour

// validateUnits rejects durations without a unit, which TOML reads as nanoseconds.
func (c Config) validateUnits() error {
	for _, k := range c.keys() {
		d, ok := k.value.Interface().(setting.Duration)
		if ok && (d < 0 || d > 0 && time.Duration(d) < time.Millisecond) {
			return invalid("%s must be a number and a unit, such as \"250ms\", \"2s\" or \"1h\", not %d", k.name, d)
		}
		if a, ok := k.value.Interface().(setting.Age); ok && a != 0 && time.Duration(a) < shortestAge {
			return invalid("%s must be \"forever\" or a time of 1h or more with its unit, such as \"90d\", not %v", k.name, a)
		}
	}
	return nil
}

func (c Config) validateTimes() error {
	for name, d := range map[string]setting.Duration{"store.dead_after": c.Store.DeadAfter, "store.statement_timeout": c.Store.StatementTimeout} {
		if time.Duration(d) < time.Second {
			return invalid("%s must be at least 1s, not %v", name, d)
		}
	}
	s := c.Schedule
	if time.Duration(s.MinInterval) < time.Second {
		return invalid("schedule.min_interval must be at least 1s, not %v", s.MinInterval)
	}
	if s.MaxInterval < s.MinInterval {
		return invalid("schedule.max_interval (%v) must not be less than schedule.min_interval (%v)", s.MaxInterval, s.MinInterval)
	}
	return nil
}

func (c Config) validateCounts() error {
	for name, n := range map[string]int{
		"http.connections_per_client": c.HTTP.ConnectionsPerClient, "robot.connections": c.Robot.Connections, "robot.connections_per_host": c.Robot.ConnectionsPerHost,
		"parse.workers": c.Parse.Workers, "pages.workers": c.Pages.Workers, "media.workers": c.Media.Workers,
		"media.max_pictures": c.Media.MaxPictures, "store.connections": c.Store.Conns, "bus.replicas": c.Bus.Replicas,
	} {
		if n < 1 {
			return invalid("%s must be at least 1, not %d", name, n)
		}
	}
	if w := c.Media.Width; w < 16 || w > 8192 {
		return invalid("media.width must be from 16 to 8192, not %d", w)
	}
	return nil
}

// proxies parses http.trusted_proxies.
func (c Config) proxies() (out []netip.Prefix, err error) {
	for _, text := range c.HTTP.TrustedProxies {
		p, err := netip.ParsePrefix(text)
		if a, bad := netip.ParseAddr(text); bad == nil {
			p, err = a.Prefix(a.BitLen())
		}
		if err != nil {
			return nil, invalid("http.trusted_proxies must have addresses or networks, such as 10.0.0.5 or 10.0.0.0/24, not %q", text)
		}
		out = append(out, p)
	}
	return out, nil
}

// exempts parses robot.allow_addresses.
func (c Config) exempts() ([]guard.Exempt, error) {
	var out []guard.Exempt
	for _, s := range c.Robot.AllowAddresses {
		e, err := guard.ParseExempt(s)
		if err != nil {
			return nil, invalid("robot.allow_addresses: %w", err)
		}
		out = append(out, e)
	}
	return out, nil
}

// meant suggests the candidate that is nearest to what was written, up to two typos
// away, and says where all are listed.
func meant(written string, candidates []string, all string) string {
	best, least := "", 3
	for _, c := range candidates {
		if d := distance(strings.ToLower(written), strings.ToLower(c)); d < least {
			best, least = c, d
		}
	}
	if best == "" {
		return all
	}
	return "did you mean " + best + "? " + all
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
