package markup

// closeBefore closes elements that cannot contain the new element, as HTML does:
// paragraphs end at blocks, list items at list items, links at links.
func (c *Cleaner) closeBefore(el element) {
	if el.block {
		c.closeOpen("p", true) // first, because a paragraph hides the heading around it
	}
	switch el.out {
	case "a":
		c.closeOpen("a", false)
	case "li":
		c.closeItem("li", "li")
	case "dt", "dd":
		c.closeItem("dt", "dd")
	case "h1", "h2", "h3", "h4", "h5", "h6":
		c.closeHeading()
	case "table":
		c.closeTable()
	}
}

// closeOpen closes the nearest open element with a name inside the same cell; if
// paragraph is set, only if no other block lies between.
func (c *Cleaner) closeOpen(name string, paragraph bool) {
	for i := len(c.open) - 1; i >= 0; i-- {
		o := &c.open[i]
		switch {
		case o.name == name:
			c.closeTo(i)
			return
		case isCell(o.name) || o.name == "table" || paragraph && o.block:
			return
		}
	}
}

// closeItem closes an open item of the same list.
func (c *Cleaner) closeItem(one, other string) {
	for i := len(c.open) - 1; i >= 0; i-- {
		o := &c.open[i]
		switch {
		case o.name == one || o.name == other:
			c.closeTo(i)
			return
		case o.block && o.name != "p" && o.name != "div":
			return
		}
	}
}

// closeHeading ends a heading in which another one begins.
func (c *Cleaner) closeHeading() {
	for i := len(c.open) - 1; i >= 0; i-- {
		o := &c.open[i]
		switch {
		case len(o.name) == 2 && o.name[0] == 'h' && o.name != "hr":
			c.closeTo(i)
			return
		case o.block:
			return
		}
	}
}

// closeTable ends a table in which another one begins outside any cell.
func (c *Cleaner) closeTable() {
	for i := len(c.open) - 1; i >= 0; i-- {
		switch name := c.open[i].name; {
		case isCell(name):
			return
		case name == "table":
			c.closeTo(i)
			return
		}
	}
}

// makeRoom closes elements that must end before a part of a table begins, and reports
// whether there is a table.
func (c *Cleaner) makeRoom(name string) bool {
	table := len(c.open) - 1
	for table >= 0 && c.open[table].name != "table" {
		table--
	}
	if table < 0 {
		return false
	}
	keep := table + 1
	for keep < len(c.open) && holds(c.open[keep].name, name) {
		keep++
	}
	c.closeTo(keep)
	return true
}

// holds reports whether one part of a table may contain another.
func holds(outer, inner string) bool {
	switch outer {
	case "thead", "tbody", "tfoot":
		return inner == "tr" || inner == "td" || inner == "th"
	case "tr":
		return inner == "td" || inner == "th"
	case "colgroup":
		return inner == "col"
	}
	return false
}
