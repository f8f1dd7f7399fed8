package app

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/search"
	"github.com/courant-platform/courant/internal/front/serve"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/stage/media"
	"github.com/courant-platform/courant/internal/stage/pages"
	"github.com/courant-platform/courant/internal/stage/parse"
	"github.com/courant-platform/courant/internal/stage/retain"
	"github.com/courant-platform/courant/internal/stage/robot"
	"github.com/courant-platform/courant/internal/stage/schedule"
	"github.com/courant-platform/courant/internal/stage/websub"
)

// Config is the whole configuration: a section for each role and for each backend.
type Config struct {
	HTTP     HTTP            `toml:"http"`
	Log      Log             `toml:"log"`
	Store    StoreConfig     `toml:"store"`
	Blob     BlobConfig      `toml:"blob"`
	Bus      BusConfig       `toml:"bus"`
	Schedule schedule.Config `toml:"schedule"`
	WebSub   websub.Config   `toml:"websub"`
	Robot    robot.Config    `toml:"robot"`
	Parse    parse.Config    `toml:"parse"`
	Media    media.Config    `toml:"media"`
	Pages    pages.Config    `toml:"pages"`
	Serve    serve.Config    `toml:"serve"`
	Index    index.Config    `toml:"index"`
	Search   search.Config   `toml:"search"`
	Catalog  Catalog         `toml:"catalog"`
	Retain   retain.Config   `toml:"retain"`

	old []string // settings that were given by their old names
}

// HTTP says where people reach us.
type HTTP struct {
	Listen               string   `toml:"listen" comment:"address to listen on; one that other machines can reach needs admin_password"`
	PublicURL            string   `toml:"public_url" comment:"public URL of this server, for readers and for the callbacks of hubs"`
	TrustedProxies       []string `toml:"trusted_proxies" comment:"addresses or networks of our own proxies: their X-Forwarded-For says who asks"`
	ConnectionsPerClient int      `toml:"connections_per_client" comment:"maximum number of connections of an address, or of an IPv6 network of 64 bits, that is not a trusted proxy"`
	Password             string   `toml:"admin_password" comment:"12 characters or more; gives the same rights as a token"`
}

// Catalog says how offers are understood.
type Catalog struct {
	RegionParam string `toml:"region_param" comment:"name of the param that lists the regions of an offer, such as 5-21,80-86"`
}

// Log says what is logged.
type Log struct {
	Level  string `toml:"level" comment:"debug, info, warn or error"`
	JSON   bool   `toml:"json" comment:"one JSON object per line instead of text"`
	Access bool   `toml:"access" comment:"a line for each HTTP request"`
}

// StoreConfig says where the store is.
type StoreConfig struct {
	URL              string           `toml:"url" comment:"postgres://…; default: a SQLite file in the data folder"`
	MigrateURL       string           `toml:"migrate_url" comment:"address for migrations, which a pooler cannot pass on; default: url"`
	Conns            int              `toml:"connections" comment:"maximum number of connections to PostgreSQL"`
	Pooler           bool             `toml:"pooler" comment:"url is a pooler such as pgbouncer that gives each transaction another session"`
	DeadAfter        setting.Duration `toml:"dead_after" comment:"a connection is dead if what was sent is not acknowledged for so long"`
	StatementTimeout setting.Duration `toml:"statement_timeout" comment:"how long a statement may take; a transaction may take one and a half times that"`
}

// BlobConfig says where downloads and pictures are kept.
type BlobConfig struct {
	Dir string `toml:"dir" comment:"folder, the same for all processes of a platform; default: a folder in the data folder"`
}

// BusConfig says which bus carries the messages.
type BusConfig struct {
	Kind     string           `toml:"kind" comment:"memory, for one process, or nats"`
	URL      string           `toml:"url" comment:"URL of NATS servers; default: a server inside this process"`
	Listen   string           `toml:"listen" comment:"address where the server inside this process accepts other processes"`
	Token    string           `toml:"token" comment:"token of the NATS server, inside this process or external"`
	Replicas int              `toml:"replicas" comment:"replicas of each stream in a NATS cluster"`
	MaxAge   setting.Duration `toml:"max_age" comment:"how long a message is kept"`
	MaxBytes setting.Size     `toml:"max_bytes" comment:"size of a topic in the server, beyond which the oldest messages are dropped"`
	Prefix   string           `toml:"prefix" comment:"first word of subjects and streams, so that platforms can share servers"`
	Creds    string           `toml:"creds" comment:"file with credentials for external servers"`
	TLSCA    string           `toml:"tls_ca" comment:"file with certificates of authorities to trust instead of the system's"`
}

// Defaults is the configuration without a file.
func Defaults() Config {
	return Config{
		HTTP:     HTTP{Listen: "127.0.0.1:8080", ConnectionsPerClient: 256},
		Log:      Log{Level: "info"},
		Store:    StoreConfig{Conns: 16, DeadAfter: setting.Duration(10 * time.Second), StatementTimeout: setting.Duration(10 * time.Second)},
		Bus:      BusConfig{Kind: "memory", Replicas: 1, MaxAge: setting.Duration(24 * 3600 * 1e9), MaxBytes: 64 << 20, Prefix: "courant"},
		Schedule: schedule.Defaults(), WebSub: websub.Defaults(), Robot: robot.Defaults(), Parse: parse.Defaults(), Media: media.Defaults(),
		Pages: pages.Defaults(), Serve: serve.Defaults(), Index: index.Defaults(), Search: search.Defaults(),
		Catalog: Catalog{RegionParam: "Regions"}, Retain: retain.Defaults(),
	}
}

// Load reads the file, if any, then the environment over it.
func Load(path string, environ []string) (Config, error) {
	c := Defaults()
	if path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return c, courant.Errorf(courant.Invalid, "configuration: %w", err)
		}
		if err := c.read(path, text); err != nil {
			return c, err
		}
	}
	if err := c.environment(environ); err != nil {
		return c, err
	}
	return c, c.validate()
}

func (c *Config) read(path string, text []byte) error {
	d := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	err := d.Decode(c)
	var unknown *toml.StrictMissingError
	var bad *toml.DecodeError
	switch {
	case errors.As(err, &unknown):
		var old []string
		for _, e := range unknown.Errors {
			name := strings.Join(e.Key(), ".")
			if renamedKeys[name] == "" {
				row, column := e.Position()
				return courant.Errorf(courant.Invalid, "%s:%d:%d: %s", path, row, column, unknownKey(name))
			}
			old = append(old, name)
		}
		return c.readRenamed(path, text, old)
	case errors.As(err, &bad):
		row, column := bad.Position()
		return courant.Errorf(courant.Invalid, "%s:%d:%d: %s", path, row, column, strings.TrimPrefix(bad.Error(), "toml: "))
	case err != nil:
		return courant.Errorf(courant.Invalid, "%s: %w", path, err)
	}
	return nil
}

func unknownKey(key string) string {
	return fmt.Sprintf("unknown key %s; %s", key, meant(key, keys(), "`courant config` shows all"))
}

// Text is the configuration as a file, with every key and what it means.
func (c Config) Text() (string, error) {
	shown := c
	if shown.HTTP.Password != "" {
		shown.HTTP.Password = "(set)"
	}
	if shown.Bus.Token != "" {
		shown.Bus.Token = "(set)"
	}
	for _, address := range []*string{&shown.Store.URL, &shown.Store.MigrateURL, &shown.Bus.URL, &shown.Robot.Proxy} {
		*address = link.Redact(*address)
	}
	text, err := toml.Marshal(shown)
	return string(text), err
}

// Object is the configuration with the keys and values of Text, by section.
func (c Config) Object() (map[string]any, error) {
	text, err := c.Text()
	if err != nil {
		return nil, err
	}
	sections := map[string]any{}
	return sections, toml.Unmarshal([]byte(text), &sections)
}

// key is one setting with its place in a Config.
type key struct {
	name  string // section.key
	value reflect.Value
}

func (c *Config) keys() []key {
	var out []key
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		section := v.Type().Field(i).Tag.Get("toml")
		if section == "" {
			continue
		}
		for j := range v.Field(i).NumField() {
			name, _, _ := strings.Cut(v.Field(i).Type().Field(j).Tag.Get("toml"), ",")
			out = append(out, key{section + "." + name, v.Field(i).Field(j)})
		}
	}
	return out
}

func keys() []string {
	var names []string
	for _, k := range new(Config).keys() {
		names = append(names, k.name)
	}
	return names
}

// environment reads COURANT_SECTION_KEY. The variables of the command line have the
// same prefix and are skipped.
func (c *Config) environment(environ []string) error {
	byName := map[string]key{}
	var names []string
	for _, k := range c.keys() {
		name := variable(k.name)
		byName[name] = k
		names = append(names, name)
	}
	oldNames := map[string]string{}
	for old := range renamedKeys {
		oldNames[variable(old)] = old
	}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, "COURANT_") || isOurs(name) {
			continue
		}
		k, ok := byName[name]
		if old := oldNames[name]; !ok && old != "" {
			to := variable(renamedKeys[old])
			if slices.ContainsFunc(environ, func(e string) bool { return strings.HasPrefix(e, to+"=") }) {
				return courant.Errorf(courant.Invalid, "both %s and its old name %s are set in the environment; remove one of them", to, name)
			}
			k, ok = byName[to], true
			c.noteOld(old)
		}
		if !ok {
			return courant.Errorf(courant.Invalid, "unknown environment variable %s; %s", name,
				meant(name, names, "`courant config` shows all: [robot] gap is COURANT_ROBOT_GAP"))
		}
		if err := set(k.value, value); err != nil {
			return courant.Errorf(courant.Invalid, "%s: %w", name, err)
		}
	}
	return nil
}

func isOurs(name string) bool {
	switch name {
	case "COURANT_SERVER", "COURANT_TOKEN", "COURANT_DATA", "COURANT_CONFIG", "COURANT_SHARED":
		return true
	}
	return strings.HasPrefix(name, "COURANT_TEST_")
}

// set parses a text into a setting.
func set(v reflect.Value, text string) error {
	if u, ok := v.Addr().Interface().(interface{ UnmarshalText([]byte) error }); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("must be true or false, not %q", text)
		}
		v.SetBool(b)
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("must be a whole number, not %q", text)
		}
		v.SetInt(int64(n))
	case reflect.Float64:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("must be a number, not %q", text)
		}
		v.SetFloat(n)
	case reflect.Slice:
		list, err := listOf(text)
		if err != nil {
			return err
		}
		v.Set(reflect.ValueOf(list))
	default:
		return fmt.Errorf("a setting of type %v cannot be set in the environment", v.Type())
	}
	return nil
}

// listOf reads a list in TOML syntax, or separated by commas or spaces. Brackets alone
// do not make it TOML: an IPv6 address has them too.
func listOf(text string) ([]string, error) {
	text = strings.TrimSpace(text)
	if text != "[]" && (!strings.HasPrefix(text, "[") || !strings.ContainsAny(text, `"'`)) {
		return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }), nil
	}
	var file struct {
		List []string `toml:"list"`
	}
	if err := toml.Unmarshal([]byte("list = "+text), &file); err != nil {
		return nil, fmt.Errorf("must be a list such as a,b or [\"a\", \"b\"], not %q", text)
	}
	return file.List, nil
}
