package search

import (
	"net/http"
	"strings"

	"github.com/courant-platform/courant/internal/kit/web"
)

// isProgram says whether a bot asks: one that says so, or whose User-Agent has one of
// the words by which bots name themselves.
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
