//go:build unix && peers

package reader

import (
	"fmt"
	"strings"
	"time"
)

// prose is the body of item i as HTML, of 2 to 6 KB, in two scripts.
func prose(i int) string {
	return strings.Repeat(fmt.Sprintf(`<p>The city council voted on Tuesday to approve budget %d that, according to its authors, will <b>reduce spending</b> on roads by 12&nbsp;%% and raise it on schools. «It is a compromise,» said the mayor, who had <a href="/2024/05/17/earlier">opposed</a> it.</p>
<figure><img src="/img/%d.jpg" alt="The council"><figcaption>The council in session</figcaption></figure>
<p>Город принял бюджет, который, по словам его авторов, сократит расходы на дороги и увеличит расходы на школы.</p>
`, i, i), 3+i%6)
}

// The beginnings of the feeds.
const (
	startRSS = `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>` +
		`<title>News</title><link>https://site.example/</link><description>d</description>`
	startAtom = `<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><id>urn:feed</id>` +
		`<updated>2026-01-02T03:04:05Z</updated><link rel="alternate" href="https://site.example/"/>`
	startRDF = `<?xml version="1.0" encoding="UTF-8"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" ` +
		`xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="https://site.example/">` +
		`<title>News</title><link>https://site.example/</link><description>d</description></channel>`
	startJSON = `{"version":"https://jsonfeed.org/version/1.1","title":"News","home_page_url":"https://site.example/","items":[`
)

// dialects are the same hundred items in every dialect.
func dialects() map[string]string {
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	xhtml := strings.NewReplacer("&nbsp;", "&#160;", `council">`, `council"/>`).Replace
	const entry = `<entry><title>Item %[1]d &amp; more</title><id>urn:%[1]d</id><link href="https://site.example/a/%[1]d"/><updated>%[2]s</updated><published>%[2]s</published>` +
		`<author><name>Ann Example</name></author><category term="City"/><content type="%[3]s">%[4]s</content></entry>`
	const div = `<div xmlns="http://www.w3.org/1999/xhtml">%s</div>`
	var cdata, escaped, html, inline, rdf, json strings.Builder
	for i := range 100 {
		at := time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC)
		text, date := prose(i), at.Format(time.RFC3339)
		item := fmt.Sprintf(`<item><title>Item %[1]d &amp; more</title><link>https://site.example/a/%[1]d</link><guid isPermaLink="false">id-%[1]d</guid><pubDate>%[2]s</pubDate>`+
			`<dc:creator>Ann Example</dc:creator><category>City</category><category>Money</category>`, i, at.Format(time.RFC1123Z))
		cdata.WriteString(item + "<content:encoded><![CDATA[" + text + "]]></content:encoded></item>")
		escaped.WriteString(item + "<description>" + escape(text) + "</description></item>")
		fmt.Fprintf(&html, entry, i, date, "html", escape(text))
		fmt.Fprintf(&inline, entry, i, date, "xhtml", fmt.Sprintf(div, xhtml(text)))
		fmt.Fprintf(&rdf, `<item rdf:about="https://site.example/a/%[1]d"><title>Item %[1]d</title><link>https://site.example/a/%[1]d</link><dc:date>%[2]s</dc:date>`+
			`<dc:creator>Ann Example</dc:creator><description>Short</description><content:encoded><![CDATA[%[3]s]]></content:encoded></item>`, i, date, text)
		fmt.Fprintf(&json, `{"id":"id-%[1]d","url":"https://site.example/a/%[1]d","title":"Item %[1]d","date_published":"%[2]s","authors":[{"name":"Ann Example"}],"tags":["City"],`+
			`"content_html":%[3]q},`, i, date, text)
	}
	return map[string]string{
		"rss-cdata": startRSS + cdata.String() + "</channel></rss>", "rss-escaped": startRSS + escaped.String() + "</channel></rss>",
		"atom-html": startAtom + html.String() + "</feed>", "atom-xhtml": startAtom + inline.String() + "</feed>",
		"rdf": startRDF + rdf.String() + "</rdf:RDF>", "json": startJSON + strings.TrimSuffix(json.String(), ",") + "]}",
	}
}
