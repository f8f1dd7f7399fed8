package app

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/courant-platform/courant/internal/kit/obs"
)

// helps are the help texts of all metrics, by name.
var helps = map[string]string{
	"courant_build_info":                    "Always 1; the labels say what runs.",
	"courant_bus_connected":                 "Whether the process is connected to the bus: 1 or 0. Without it pages come some seconds later.",
	"courant_bus_messages_total":            "Messages that were handled, by topic, group and verdict.",
	"courant_disk_free_bytes":               "Free bytes of the file system that has the data folder or the blobs.",
	"courant_http_requests_total":           "HTTP requests by route, method and status; 499 means that the client had gone.",
	"courant_http_seconds":                  "Time of HTTP requests until the whole answer was sent, by route.",
	"courant_index_audited_changed_total":   "Hits of repeated queries that would have been others if everything had been ranked.",
	"courant_index_audited_total":           "Queries that ranked a reduced share and were repeated in full, to see what that changed.",
	"courant_index_refused_total":           "Queries that were refused because of the load, by reason.",
	"courant_index_share":                   "Share of the matching documents that is ranked at the moment, from 0 to 1; below 1 under load.",
	"courant_index_waiting":                 "Queries that wait for admission.",
	"courant_media_errors_total":            "Pictures that were processed again because a question to the store failed.",
	"courant_media_lost_total":              "Pictures whose files were missing or damaged, by what was done: made again, or fetched again.",
	"courant_media_pictures_total":          "Fetched pictures that were stored, or could not be.",
	"courant_media_released_total":          "Documents that went live without all of their pictures, or because the last one had come.",
	"courant_media_unscaled_total":          "Pictures without a smaller version because too many were being scaled.",
	"courant_pages_fetched_to_live_seconds": "Time from the download of a feed until a page of it is live.",
	"courant_pages_total":                   "Pages by what was done: printed, kept without rendering, repriced, withdrawn, passed over.",
	"courant_parse_feeds_total":             "Downloads that were parsed, by result.",
	"courant_parse_items_total":             "Items of feeds, by result.",
	"courant_parse_offers_total":            "Offers of catalogues, by result.",
	"courant_retain_deleted_total":          "Rows and files that were deleted because they were old, by table.",
	"courant_robot_errors_total":            "Polls and downloads whose rows could not be read from the store.",
	"courant_robot_queue":                   "Hosts and requests in the memory of the robot.",
	"courant_robot_requests_total":          "Requests of the robot by status of the answer; 0 without one.",
	"courant_robot_robots_total":            "Fetched robots.txt files by result.",
	"courant_search_audited_changed_total":  "The old name of courant_index_audited_changed_total.",
	"courant_search_audited_total":          "The old name of courant_index_audited_total.",
	"courant_search_refused_total":          "The old name of courant_index_refused_total.",
	"courant_search_share":                  "The old name of courant_index_share.",
	"courant_search_waiting":                "The old name of courant_index_waiting.",
	"courant_search_asked_total":            "Queries to replicas of shards.",
	"courant_search_missing_total":          "Queries for which a shard did not answer.",
	"courant_search_queries_total":          "Searches by the reason for which less than everything was ranked.",
	"courant_search_seconds":                "Time of searches.",
	"courant_search_zone_queries":           "Queries per second of each zone.",
	"courant_search_zone_replicas":          "Replicas of each zone that answer.",
	"courant_search_zone_share":             "Share that the replicas of a zone rank.",
	"courant_serve_damaged_total":           "Pictures that were not served because their bytes are not those of their name.",
	"courant_serve_stale_total":             "Pages that were served from a copy because the store did not answer.",
	"courant_sources":                       "Sources by state: ok, new (not polled yet), failing, gone.",
	"courant_store_bytes":                   "Size of the SQLite database with its write-ahead log.",
	"courant_websub_pings_total":            "Deliveries of hubs by result.",
	"courant_websub_subscriptions":          "Subscriptions to hubs by state.",
	"courant_work_due":                      "Work that should have been taken up by now, up to 10,000 rows, by stage.",
	"courant_work_oldest_seconds":           "For how long the oldest work of a stage has been due.",
}

// observe exports what is known of the process and its disks without any event.
func (p *Platform) observe() {
	p.Metrics.Explain(helps)
	p.Metrics.Gauge("courant_build_info", 1, "version", Version(), "go", runtime.Version())
	free(p.Metrics, "data", p.dir)
	if dir := p.Config.Blob.Dir; dir != "" {
		free(p.Metrics, "blobs", dir)
	}
	if p.Config.Store.URL == "" {
		p.Metrics.Func("courant_store_bytes", func() float64 { return sizes(filepath.Join(p.dir, "courant.db*")) })
	}
}

// free exports the free space of the file system that has a folder.
func free(m *obs.Set, of, dir string) {
	m.Func("courant_disk_free_bytes", func() float64 {
		var s syscall.Statfs_t
		if err := syscall.Statfs(dir, &s); err != nil {
			return -1
		}
		return float64(s.Bavail) * float64(s.Bsize)
	}, "of", of)
}

// sizes is the sum of the sizes of the files that match a pattern.
func sizes(pattern string) (sum float64) {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return -1
	}
	for _, name := range names {
		var st fs.FileInfo
		if st, err = os.Stat(name); err == nil {
			sum += float64(st.Size())
		}
	}
	return sum
}
