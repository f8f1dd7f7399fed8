package feed

import "sort"

// jsonIgnored names the fields of an object that the reading does not have. path is that
// of the object.
func (r *reader) jsonIgnored(path string, o jsonObject, known func(string) bool) {
	var names []string
	for name, value := range o {
		if value != "null" && (!known(name) || isText(name) && !isJSONText(value)) {
			names = append(names, name)
		}
	}
	sort.Strings(names) // the order of a map is random
	for _, name := range names {
		why := noUseName
		if known(name) {
			why = notPlausible
		}
		r.ignore(path+name, "", why)
	}
}

// isText reports whether the value of a field must be a text or a number.
func isText(name string) bool {
	switch name {
	case "id", "title", "date_published", "date_modified", "summary", "content_text", "content_html", "language", "description", "name":
		return true
	}
	return false
}

// isJSONText reports whether jsonText reads values of this kind.
func isJSONText(value string) bool {
	return value != "" && (value[0] == '"' || value[0] == '-' || value[0] >= '0' && value[0] <= '9' || value[0] == '[' && value != "[]")
}

// feedField reports whether a feed has a field that is read.
func feedField(name string) bool {
	switch name {
	case "version", "title", "home_page_url", "feed_url", "next_url", "description", "language", "icon", "favicon", "authors", "author", "hubs",
		"expired", "items":
		return true
	}
	return false
}

// itemField reports whether an item has a field that is read.
func itemField(name string) bool {
	switch name {
	case "id", "title", "url", "external_url", "date_published", "date_modified", "summary", "content_text", "content_html", "image",
		"banner_image", "attachments", "authors", "author", "language", "tags":
		return true
	}
	return false
}

// fileField reports whether an attachment has a field that is read.
func fileField(name string) bool {
	switch name {
	case "url", "mime_type", "size_in_bytes", "title", "duration_in_seconds":
		return true
	}
	return false
}

// personField reports whether an author has a field that is read.
func personField(name string) bool { return name == "name" || name == "url" || name == "email" }
