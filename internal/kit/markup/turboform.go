package markup

import "strings"

// turboButton writes a button as a link, or as text if it is disabled or has no valid
// address.
func (c *Cleaner) turboButton(name, to string) bool {
	s := &c.scan
	tint, background, primary := s.attr("data-color"), s.attr("data-background-color"), s.attr("data-primary")
	_, disabled := s.lookupAttr("disabled")
	label := s.attr("text")
	url := c.address(to)
	if url == "" {
		url = reach(to)
	}
	if url != "" && c.Link != nil {
		url = c.Link(url)
	}
	text := c.textWithin(name)
	if text == "" {
		text = string(appendEscapedText(nil, limited(label)))
	}
	c.closeOpen("a", false)
	if text == "" {
		return true
	}
	out := "a"
	if disabled || url == "" {
		out = "span"
	}
	c.dst = append(append(c.dst, '<'), out...)
	if out == "a" {
		c.put("href", url)
	}
	c.put("data-widget", "button")
	c.putData("color", tint)
	c.putData("background", background)
	c.putData("primary", primary)
	c.dst = append(append(append(append(append(c.dst, '>'), text...), "</"...), out...), '>')
	return true
}

// turboFeedback writes the contacts of a feedback widget as links.
func (c *Cleaner) turboFeedback() {
	if !c.openDiv("feedback", c.scan.attr("data-title")) {
		c.scan.skip()
		return
	}
	c.within("div", func() {
		s := &c.scan
		kind := c.data("type", s.attr("data-type"))
		switch {
		case kind == "callback":
			c.whole("callback", "", s.attr("data-send-to"), s.attr("data-agreement-company"), s.attr("data-agreement-link"))
		case kind != "":
			c.contact(kind, s.attr("data-url"))
		}
	})
	c.closeDiv()
}

// contact writes one contact as a link.
func (c *Cleaner) contact(kind, to string) {
	url := c.address(to)
	switch {
	case strings.Contains(to, ":") && url == "":
		url = reach(to)
	case kind == "call" && !strings.Contains(to, ":"):
		url = reach("tel:" + to)
	case kind == "mail" && !strings.Contains(to, ":"):
		url = reach("mailto:" + to)
	}
	if url != "" && c.Link != nil {
		url = c.Link(url)
	}
	if url == "" {
		return
	}
	c.dst = append(c.dst, "<a"...)
	c.put("href", url)
	c.put("data-widget", "contact")
	c.put("data-type", kind)
	c.dst = append(append(append(c.dst, '>'), kind...), "</a>"...)
}

// turboForm handles the three kinds of Turbo's forms and reports whether it did; the
// contents of other forms stay.
func (c *Cleaner) turboForm() bool {
	s := &c.scan
	switch strings.ToLower(s.attr("data-type")) {
	case "callback":
		to, company, agreement := s.attr("data-send-to"), s.attr("data-agreement-company"), s.attr("data-agreement-link")
		s.leave()
		c.whole("callback", "", to, company, agreement)
		return true
	case "dynamic-form":
		c.dynamicForm()
		return true
	}
	if action := s.attr("action"); strings.Contains(action, "{text}") {
		name, placeholder := "", ""
		c.within("form", func() {
			if c.scan.name == "input" && name == "" {
				name, placeholder = c.scan.attr("name"), c.scan.attr("placeholder")
			}
		})
		if c.action(action) != "" {
			c.whole("search", "", action, name, placeholder)
		}
		return true
	}
	return false
}

// dynamicForm writes the fields of a form, which spans describe.
func (c *Cleaner) dynamicForm() {
	if !c.openDiv("form", c.scan.attr("end_point")) {
		c.scan.skip()
		return
	}
	field := false // a select or radio is open for its options
	c.within("form", func() {
		s := &c.scan
		kind := c.data("type", s.attr("type"))
		label := limited(s.attr("label"))
		switch {
		case s.name == "span" && kind == "option":
			c.option(label)
			return
		case s.name != "span" && s.name != "button":
			return
		case field:
			c.closeDiv()
			field = false
		}
		switch {
		case s.name == "button" && kind == "submit":
			c.whole("submit", limited(s.attr("text")))
		case s.name == "span" && isField(kind):
			field = c.field(kind, label)
		}
	})
	if field {
		c.closeDiv()
	}
	c.closeDiv()
}

// field opens a field of a form. The label of a checkbox is its content.
func (c *Cleaner) field(kind, label string) bool {
	s := &c.scan
	hint := s.attr("placeholder")
	if label == "" {
		label = limited(s.attr("content"))
	}
	if label == "" {
		label, hint = hint, ""
	}
	if is := c.data("type", s.attr("input-type")); kind == "input" && isField(is) {
		kind = is
	}
	return c.openDiv("field", kind, s.attr("name"), label, s.attr("required"), hint)
}

// option writes an option of a select or radio field.
func (c *Cleaner) option(label string) {
	s := &c.scan
	if label == "" {
		label = limited(s.attr("text"))
	}
	if more := limited(s.attr("meta")); more != "" {
		label += " (" + more + ")"
	}
	checked := ""
	if v, ok := s.lookupAttr("checked"); ok && v != "0" && v != "false" {
		checked = "true"
	}
	c.whole("option", label, checked)
}

// isField reports whether a kind of input is a field.
func isField(kind string) bool {
	switch kind {
	case "input", "textarea", "checkbox", "select", "radio", "email", "number", "tel", "date":
		return true
	}
	return false
}
