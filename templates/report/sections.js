/* The frame of a page: its head, sections that a list of links names, figures, texts. */

const asNumber = d3.format(",");
const asShare = d3.format(".1%");
const counted = (count, unit) =>
  `${asNumber(count)} ${count === 1 ? unit.replace(/s$/, "") : unit}`;

/* Return a figure with its unit: 2 wavelets, cycle 6, or never where no cycle is. */
function asFigure(count, unit) {
  if (unit !== "cycle") return counted(count, unit);
  return count < 0 ? "never" : `cycle ${asNumber(count)}`;
}

/* Return the element of a section, with its heading, and name it in the list at the top. */
function addSection(id, title, says) {
  d3.select("#links").append("a").attr("href", `#${id}`).text(title);
  const section = d3.select("#main").append("section").attr("id", id).attr("aria-label", title);
  section.append("h2").text(title);
  if (says) section.append("p").attr("class", "says").text(says);
  return section;
}

/* Write the head of the page: what it is of. */
function addTitle(title, says) {
  document.documentElement.dataset.kind = page.kind;
  const top = d3.select("#top");
  const words = top.append("div");
  words.append("h1").text(title);
  words.append("p").text(says);
  top.append("nav").attr("id", "links").attr("aria-label", "sections");
}

/* Add large figures: { key, value, unit, says, mood }. */
function addFacts(facts) {
  const boxes = d3.select("#main").append("section").attr("id", "facts")
    .attr("aria-label", "figures").selectAll("div").data(facts).join("div")
    .attr("class", ({ mood }) => `fact ${mood || ""}`);
  const large = boxes.append("p").attr("class", "value");
  large.append("span").attr("data-fact", ({ key }) => key).text(({ value }) => value);
  large.append("small").text(({ unit }) => unit || "");
  boxes.append("p").attr("class", "label").text(({ says }) => says);
}

/* Add a box in which what is wider than the page scrolls, as on a phone. */
const addScroll = (holder) => holder.append("div").attr("class", "scroll");

/* Add a chart, as wide as the page; on a phone it is as wide as is legible, and scrolls. */
const addChart = (holder, name) => addScroll(holder).append("svg").attr("class", `chart ${name}`);

/* Add a table of rows of cells; numbers are set to the right. */
function addTable(holder, heads, rows) {
  const table = addScroll(holder).append("table");
  table.append("thead").append("tr").selectAll("th").data(heads).join("th")
    .attr("scope", "col").text((text) => text)
    .attr("class", (_, at) => (rows.length && typeof rows[0][at] === "number" ? "number" : null));
  table.append("tbody").selectAll("tr").data(rows).join("tr").selectAll("td").data((row) => row)
    .join("td").attr("class", (cell) => (typeof cell === "number" ? "number" : null))
    .text((cell) => (typeof cell === "number" ? asNumber(cell) : cell));
  return table;
}

/* Add the texts of a page, each folded, the first open. */
function addTexts(texts) {
  const section = addSection("texts", "Texts", "What was written for this, as it is.");
  const each = section.selectAll("details").data(Object.entries(texts)).join("details")
    .property("open", (_, at) => at === 0);
  each.append("summary").text(([name]) => name);
  each.append("pre").attr("tabindex", 0).text(([, text]) => text);
}

/* Add lines of a program, from one to before another. */
function addCode(holder, lines, first = 0, end = lines.length) {
  const code = holder.append("pre").attr("class", "code").attr("tabindex", 0).append("code");
  for (const line of lines.slice(first, end)) {
    for (const [letter, text] of line) {
      code.append("span").attr("class", letter ? `c-${letter}` : null).text(text);
    }
    code.append("span").text("\n");
  }
}

/* Add bars one after the other: { name, cycles, colour } each, of `most` cycles in all. */
function addStack(holder, parts, most) {
  const bar = holder.append("div").attr("class", "stack").attr("role", "img").attr("aria-label",
    parts.map(({ name, cycles }) => `${name} ${asNumber(cycles)}`).join(", "));
  bar.selectAll("i").data(parts.filter(({ cycles }) => cycles > 0)).join("i")
    .style("width", ({ cycles }) => `${100 * cycles / most}%`)
    .style("background", ({ colour }) => colour)
    .attr("title", ({ name, cycles }) => `${name}: ${asNumber(cycles)}`);
}

/* Add a line to bars that stand below each other: what it is of, the bar, and what to say of it. */
function addShare(box, says, parts, end) {
  box.append("span").text(says);
  addStack(box.append("div"), parts, d3.sum(parts, ({ cycles }) => cycles) || 1);
  box.append("b").text(end);
}

/* Add what the colours of parts mean, with their numbers. */
function addKeys(holder, parts) {
  const keys = holder.append("ul").attr("class", "keys").selectAll("li").data(parts).join("li")
    .attr("data-cause", ({ cause }) => cause || null);
  keys.append("i").style("background", ({ colour }) => colour);
  keys.append("span").text(({ name }) => name);
  keys.append("b").text(({ cycles }) => (cycles === undefined ? "" : asNumber(cycles)));
}

/* Add buttons of which one is pressed, and call `act` with what it stands for. */
function addChoice(holder, label, options, act) {
  const group = holder.append("div").attr("class", "choice").attr("role", "group")
    .attr("aria-label", label);
  const buttons = group.selectAll("button").data(options).join("button").attr("type", "button")
    .text(([text]) => text).on("click", (_, [, value]) => press(value));
  function press(value) {
    buttons.attr("aria-pressed", ([, own]) => String(own === value));
    act(value);
  }
  press(options[0][1]);
}
