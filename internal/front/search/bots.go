package search

import (
	"net/http"
	"strings"

	"github.com/courant-platform/courant/internal/kit/web"
)

// isProgram reports whether a request is from a bot: it has bot=true, or its User-Agent
// contains a word that bots use.
func isProgram(r *http.Request) bool {
	if v := web.Param(r, "bot"); v == "true" || v == "1" {
		return true
	}
	agent := strings.ToLower(r.UserAgent())
	for _, word := range []string{"bot", "crawl", "spider", "slurp", "archiver", "scraper"} {
		if strings.Contains(agent, word) {
			return true
		}
	}
	return false
}
