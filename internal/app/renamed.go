package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/courant-platform/courant"
)

// renamedKeys maps old names of settings to new ones. The old names are accepted for
// one release.
var renamedKeys = map[string]string{
	"search.shards": "index.shards", "search.signals": "index.signals", "search.model": "index.model", "search.categories": "index.categories",
	"search.law": "index.policy", "search.floor": "index.floor", "search.listen": "index.listen", "search.address": "index.address",
	"search.hold": "index.hold", "search.second": "search.reranker", "media.late": "media.rerender_delay", "media.most": "media.max_pictures",
}

// renamedRoles maps old names of roles to new ones.
var renamedRoles = map[string]string{"shard": "index"}

// Renamed returns a warning for each setting that was given by an old name.
func (c Config) Renamed() (sentences []string) {
	for _, old := range c.old {
		sentences = append(sentences, fmt.Sprintf("%s is now called %s; the old name stops working in the next release", old, renamedKeys[old]))
	}
	for _, line := range c.Search.Experiments {
		if strings.Contains(line, " second=") {
			sentences = append(sentences, "second= in search.experiments is now called reranker=; the old name stops working in the next release")
			break
		}
	}
	return sentences
}

// renamedIn returns a warning for each role that was given by an old name.
func renamedIn(roles []string) (sentences []string) {
	for _, old := range roles {
		if to := renamedRoles[old]; to != "" {
			sentences = append(sentences, fmt.Sprintf("the role %s is now called %s; the old name stops working in the next release", old, to))
		}
	}
	return sentences
}

// noteOld records that a setting was given by an old name.
func (c *Config) noteOld(old string) {
	if !slices.Contains(c.old, old) {
		c.old = append(c.old, old)
	}
}

// readRenamed reads those settings of a file that have old names.
func (c *Config) readRenamed(path string, text []byte, old []string) error {
	var tree map[string]map[string]any
	if err := toml.Unmarshal(text, &tree); err != nil {
		return courant.Errorf(courant.Invalid, "%s: %w", path, err)
	}
	for _, name := range old {
		section, key, _ := strings.Cut(name, ".")
		to, toKey, _ := strings.Cut(renamedKeys[name], ".")
		if _, both := tree[to][toKey]; both {
			return courant.Errorf(courant.Invalid, "%s: %s is the old name of %s; remove one of them", path, name, renamedKeys[name])
		}
		one, err := toml.Marshal(map[string]any{to: map[string]any{toKey: tree[section][key]}})
		if err == nil {
			err = toml.Unmarshal(one, c)
		}
		var bad *toml.DecodeError
		if errors.As(err, &bad) {
			return courant.Errorf(courant.Invalid, "%s: %s: %s", path, name, strings.TrimPrefix(bad.Error(), "toml: "))
		}
		if err != nil {
			return courant.Errorf(courant.Invalid, "%s: %s: %w", path, name, err)
		}
		c.noteOld(name)
	}
	return nil
}

// variable is the name of the environment variable of a setting.
func variable(key string) string {
	return "COURANT_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}
