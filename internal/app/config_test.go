package app_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/app"
)

// load reads a configuration from a text.
func load(t *testing.T, text string, environ ...string) (app.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "courant.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return app.Load(path, environ)
}

func TestWithoutAFileTheDefaultsHold(t *testing.T) {
	c, err := app.Load("", nil)
	if err != nil || !reflect.DeepEqual(c, app.Defaults()) {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestAMistakeInTheFileIsNamedWithItsPlace(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"[robot]\ngapp = \"1s\"\n", "courant.toml:2:1: unknown key robot.gapp; did you mean robot.gap?"},
		{"[robot]\nconection = 5\n", "did you mean robot.connections?"},
		{"[robot]\nfoo = 5\n", "unknown key robot.foo; `courant config` shows all"},
		{"[robot]\ngap = \"soon\"\n", "courant.toml:2:"},
		{"[robot\n", "courant.toml:1:"},
	} {
		_, err := load(t, c.text)
		if !errors.Is(err, courant.Invalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.says)
		}
	}
	if _, err := app.Load(filepath.Join(t.TempDir(), "none.toml"), nil); !errors.Is(err, courant.Invalid) {
		t.Errorf("no such file: %v", err)
	}
}

func TestTheEnvironmentGoesOverTheFile(t *testing.T) {
	c, err := load(t, "[robot]\ngap = \"1s\"\nconnections = 7\n[log]\nlevel = \"warn\"\n",
		"COURANT_ROBOT_GAP=3s", "COURANT_ROBOT_ALLOW_ADDRESSES=192.168.1.7, 10.0.0.0/8:8080", "COURANT_LOG_JSON=true", "COURANT_ROBOT_MAX_FEED=2MiB",
		"COURANT_SERVER=x", "COURANT_TOKEN=x", "COURANT_DATA=x", "PATH=/bin")
	if err != nil {
		t.Fatal(err)
	}
	r := c.Robot
	if time.Duration(r.Gap) != 3*time.Second || r.Connections != 7 || len(r.AllowAddresses) != 2 || r.AllowAddresses[1] != "10.0.0.0/8:8080" || r.MaxFeed != 2<<20 || !c.Log.JSON || c.Log.Level != "warn" {
		t.Errorf("got %+v, %+v", r, c.Log)
	}
	for variable, says := range map[string]string{
		"COURANT_ROBOT_GAPP=1s":         "did you mean COURANT_ROBOT_GAP?",
		"COURANT_FOO_BAR=1":             "unknown environment variable COURANT_FOO_BAR; `courant config` shows all",
		"COURANT_ROBOT_GAP=soon":        "COURANT_ROBOT_GAP",
		"COURANT_ROBOT_CONNECTIONS=few": `must be a whole number, not "few"`,
		"COURANT_LOG_JSON=perhaps":      "must be true or false",
	} {
		if _, err := app.Load("", []string{variable}); !errors.Is(err, courant.Invalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", variable, err)
		}
	}
}

func TestAListInTheEnvironmentIsWrittenEitherWay(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.1": "10.0.0.1", "10.0.0.1,10.0.0.2": "10.0.0.1 10.0.0.2", " 10.0.0.1 10.0.0.2 ": "10.0.0.1 10.0.0.2", `["10.0.0.1"]`: "10.0.0.1",
		`[ '10.0.0.1', "[fd00::1]:8080" ]`: "10.0.0.1 [fd00::1]:8080", "[fd00::1]:8080,[fd00::2]": "[fd00::1]:8080 [fd00::2]", "[]": "", "": "",
	} {
		c, err := app.Load("", []string{"COURANT_ROBOT_ALLOW_ADDRESSES=" + text})
		if got := strings.Join(c.Robot.AllowAddresses, " "); err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for text, says := range map[string]string{`["10.0.0.1"`: `must be a list such as a,b or ["a", "b"]`, `["10.0.0.1", 5]`: "must be a list", `["localhost"]`: "is not an address"} {
		if _, err := app.Load("", []string{"COURANT_ROBOT_ALLOW_ADDRESSES=" + text}); !errors.Is(err, courant.Invalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestInvalidSettingsAreRejectedBeforeAnythingStarts(t *testing.T) {
	for setting, says := range map[string]string{
		"[http]\nlisten = \"0.0.0.0:8080\"":                               "http.admin_password must be set",
		"[http]\nlisten = \":8080\"":                                      "http.admin_password must be set",
		"[http]\nlisten = \"192.168.1.7:80\"\nadmin_password = \"short\"": "12 characters",
		"[http]\nlisten = \"8080\"":                                       "an address such as 127.0.0.1:8080",
		"[http]\npublic_url = \"news.example.org\"":                       "http.public_url",
		"[log]\nlevel = \"loud\"":                                         "must be debug, info, warn or error",
		"[bus]\nkind = \"kafka\"":                                         "must be memory or nats",
		"[store]\nurl = \"mysql://a\"":                                    "such as postgres://",
		"[schedule]\nmin_interval = \"100ms\"":                            "at least 1s",
		"[schedule]\nmin_interval = \"1h\"\nmax_interval = \"1m\"":        "must not be less than schedule.min_interval",
		"[robot]\nconnections = 0":                                        "robot.connections must be at least 1, not 0",
		"[robot]\nallow_addresses = [\"localhost\"]":                      "robot.allow_addresses",
		"[media]\nwidth = 1":                                              "media.width",
		"[retain]\nevents = 90":                                           `retain.events must be "forever" or a time of 1h or more with its unit, such as "90d", not 90ns`,
		"[retain]\nmedia = \"30m\"":                                       `retain.media must be "forever"`,
		"[retain]\nhosts = \"never\"":                                     `"never" is not a time: write`,
		"[retain]\ninterval = 5":                                          "retain.interval must be a number and a unit",
	} {
		if _, err := load(t, setting); !errors.Is(err, courant.Invalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want %s", setting, err, says)
		}
	}
	for _, setting := range []string{
		"[http]\nlisten = \"0.0.0.0:8080\"\nadmin_password = \"correct horse battery\"", "[http]\nlisten = \"localhost:0\"", "[http]\nlisten = \"[::1]:8080\"",
		"[schedule]\nmin_interval = \"1s\"\nmax_interval = \"1s\"", "[store]\nurl = \"postgres://user@host/name\"",
	} {
		if _, err := load(t, setting); err != nil {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

func TestValuesThatNoSettingMayHaveAreRefusedWithTheirPlace(t *testing.T) {
	for setting, says := range map[string]string{
		"[robot]\nmax_feed = \"999999999TiB\"":          "at most 1024TiB",
		"[robot]\nmax_feed = -5":                        "robot.max_feed must be a size",
		"[robot]\nuser_agent = \"a\\r\\nX-Evil: 1\"":    "robot.user_agent must not have line breaks",
		"[http]\npublic_url = \"http://a/\\n\"":         "http.public_url must not have line breaks",
		"[http]\ntrusted_proxies = [\"proxy\"]":         "http.trusted_proxies must have addresses or networks",
		"[http]\ntrusted_proxies = [\"10.0.0.0/8\\n\"]": "http.trusted_proxies must not have line breaks",
		"[http]\nconnections_per_client = 0":            "http.connections_per_client must be at least 1",
		"[http]\nconnections_per_client = 99999999":     "http.connections_per_client must be from 0 to 100000",
		"[index]\nfloor = nan":                          "index.floor must be a number",
		"[index]\nfloor = inf":                          "index.floor must be a number",
		"[index]\nfloor = -0.5":                         "index.floor must be between 0 and 1",
		"[index]\nfloor = 1.5":                          "index.floor must be between 0 and 1",
		"[index]\nshards = -1":                          "index.shards must be from",
		"[parse]\nworkers = 100000000":                  "parse.workers must be from 0 to 1024",
		"[media]\nworkers = -3":                         "media.workers must be from 0",
		"[media]\nmax_pictures = 99999999":              "media.max_pictures must be from 0 to 10000",
		"[robot]\nconnections = 999999999":              "robot.connections must be from 0 to 100000",
		"[serve]\nmax_age = -1":                         "serve.max_age must be from 0",
		"[serve]\ncopies = -1":                          "serve.copies must be a size",
		"[bus]\nreplicas = 1000":                        "bus.replicas must be from 0 to 5",
		"[bus]\nmax_bytes = \"1KiB\"":                   "bus.max_bytes must be at least 1MiB",
		"[bus]\ncreds = \"/no/such/file\"":              "bus.creds: open /no/such/file",
		"[bus]\ntls_ca = \"/no/such/file\"":             "bus.tls_ca: open /no/such/file",
		"[store]\nconnections = 1000000":                "store.connections must be from 0 to 10000",
		"[store]\nstatement_timeout = \"10ms\"":         "store.statement_timeout must be at least 1s",
		"[store]\ndead_after = \"0s\"":                  "store.dead_after must be at least 1s",
		"[store]\npooler = true":                        "set store.migrate_url",
		"[store]\nurl = \"mysql://u:hidden@a\"":         "not \"mysql://xxxxx@a\"",
		"[schedule]\nmax_interval = \"999999d\"":        "from 0 to 36500 days",
		"[schedule]\nmax_interval = \"2000000h\"":       "longer than 36500 days",
		"[retain]\nevents = \"-90d\"":                   "is not a time",
		"[retain]\nevents = \"NaNd\"":                   "is not a time",
		"[retain]\nevents = -7200000000000":             "retain.events must be",
	} {
		if _, err := load(t, setting); !errors.Is(err, courant.Invalid) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: got %v, want %s", setting, err, says)
		}
	}
}

func TestTheShownConfigurationIsAFileThatMeansTheSame(t *testing.T) {
	c := app.Defaults()
	c.Robot.UserAgent, c.Log.Level, c.Robot.AllowAddresses = "me/1", "debug", []string{"10.0.0.0/8"}
	text, err := c.Text()
	if err != nil {
		t.Fatal(err)
	}
	again, err := load(t, text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if shown, err := again.Text(); err != nil || shown != text {
		t.Errorf("read again it is\n%s\nand was\n%s", shown, text)
	}
	c.HTTP.Password, c.Bus.Token = "correct horse battery", "secret token"
	if text, err = c.Text(); err != nil || strings.Contains(text, "horse") || strings.Contains(text, "secret token") {
		t.Errorf("a secret is shown: %v\n%s", err, text)
	}
}

func TestSeparateRolesNeedASharedBusAndStore(t *testing.T) {
	c := app.Defaults()
	if err := c.Check(nil); err != nil {
		t.Errorf("all roles: %v", err)
	}
	for _, change := range []func(*app.Config){
		func(*app.Config) {}, func(c *app.Config) { c.Bus.Kind = "nats" }, func(c *app.Config) { c.Store.URL = "postgres://a@b/c" },
	} {
		c := app.Defaults()
		change(&c)
		if err := c.Check([]string{"robot"}); !errors.Is(err, courant.Invalid) || !strings.Contains(err.Error(), "bus.kind") || !strings.Contains(err.Error(), "store.url") {
			t.Errorf("robot alone: %v", err)
		}
	}
	c.Bus.Kind, c.Store.URL = "nats", "postgres://a@b/c"
	if err := c.Check([]string{"robot", "parse"}); err != nil {
		t.Errorf("with both: %v", err)
	}
	if err := c.Check([]string{"robbot"}); !errors.Is(err, courant.Invalid) || !strings.Contains(err.Error(), "did you mean robot?") {
		t.Errorf("a role that there is not: %v", err)
	}
	if err := c.Check([]string{"bogusrole"}); !errors.Is(err, courant.Invalid) || strings.Contains(err.Error(), "did you mean") || !strings.Contains(err.Error(), "courant roles") {
		t.Errorf("a role that is near to none: %v", err)
	}
	if err := c.Check([]string{"robot", "robot"}); !errors.Is(err, courant.Invalid) {
		t.Errorf("a role twice: %v", err)
	}
}

func TestADurationWithoutAUnitIsRefused(t *testing.T) {
	for _, text := range []string{"[robot]\ngap = 5\n", "[robot]\ngap = -5\n", "[media]\ndeadline = 1000\n"} {
		path := filepath.Join(t.TempDir(), "courant.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := app.Load(path, nil); !errors.Is(err, courant.Invalid) || !strings.Contains(err.Error(), "unit") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestOldNamesOfSettingsAreAcceptedWithAWarning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.toml")
	text := "[search]\nlaw = \"linear\"\nshards = 4\nhold = [\"0-1\"]\nsecond = \"m.json\"\ndeadline = \"1s\"\n[media]\nmost = 7\nlate = \"9s\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := app.Load(path, []string{"COURANT_SEARCH_FLOOR=0.2"})
	if err != nil {
		t.Fatal(err)
	}
	if x := c.Index; x.Policy != "linear" || x.Shards != 4 || len(x.Hold) != 1 || x.Floor != 0.2 || c.Search.Reranker != "m.json" ||
		c.Media.MaxPictures != 7 || time.Duration(c.Media.RerenderDelay) != 9*time.Second || time.Duration(c.Search.Deadline) != time.Second {
		t.Errorf("got %+v, %+v, %+v", c.Index, c.Search, c.Media)
	}
	if said := c.Renamed(); len(said) != 7 || !slices.Contains(said, "search.law is now called index.policy; the old name stops working in the next release") {
		t.Errorf("it says %q", said)
	}
}

func TestASettingUnderBothOfItsNamesIsRefused(t *testing.T) {
	for text, says := range map[string]string{
		"[search]\nlaw = \"off\"\n[index]\npolicy = \"off\"\n": "search.law is the old name of index.policy",
		"[search]\nlaw = 3\n":        "search.law: ",
		"[search]\nlaws = \"off\"\n": ":2:1: unknown key search.laws",
	} {
		path := filepath.Join(t.TempDir(), "both.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := app.Load(path, nil); !errors.Is(err, courant.Invalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := app.Load("", []string{"COURANT_SEARCH_LAW=off", "COURANT_INDEX_POLICY=off"}); !errors.Is(err, courant.Invalid) {
		t.Errorf("both in the environment: %v", err)
	}
}

func TestTheOldNameOfARoleIsAccepted(t *testing.T) {
	roles, err := app.Named([]string{"shard", "search"})
	if err != nil || len(roles) != 2 || roles[0].Name != "index" {
		t.Errorf("got %v, %v", roles, err)
	}
	if _, err := app.Named([]string{"shard", "index"}); !errors.Is(err, courant.Invalid) {
		t.Errorf("both names: %v", err)
	}
}

func TestNoPasswordOfAnAddressIsShown(t *testing.T) {
	c := app.Defaults()
	c.Store.URL, c.Bus.URL, c.Robot.Proxy = "postgres://u:secret@db/x", "nats://u:secret@bus:4222", "http://u:secret@proxy:3128"
	text, err := c.Text()
	if err != nil || strings.Contains(text, "secret") || !strings.Contains(text, "postgres://xxxxx@db/x") {
		t.Errorf("%v: %s", err, text)
	}
}
