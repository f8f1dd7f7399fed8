package markup

// SrcsetURLs lists the addresses of a srcset.
func SrcsetURLs(s string) (urls []string) {
	for s != "" {
		var c candidate
		if c, s = nextCandidate(s); c.url != "" {
			urls = append(urls, c.url)
		}
	}
	return urls
}
