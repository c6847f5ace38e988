/* The grid with what chooses its colours and its streams, and the PE that is looked at. */

/* Add the grid, what chooses its colours, and the PE that is looked at. */
async function addGrid({ grid, quantities, programs, bins, busiest, recorded }) {
  const section = addSection("grid", "Grid");
  const bar = section.append("div").attr("class", "toolbar");
  const body = section.append("div").attr("class", "grid-body");
  const left = body.append("div").attr("class", "grid-left");
  const view = window.view = makeView(left.append("div").attr("class", "canvas"),
    { grid, programs, busiest, until: bins ? bins.until : 0 });
  const legend = left.append("div").attr("class", "legend");
  const status = left.append("p").attr("class", "status").attr("role", "status");
  const panel = body.append("aside").attr("class", "panel").attr("id", "pe")
    .attr("aria-label", "PE");
  panel.append("p").attr("class", "hint").text("Click a PE, or go to one with the arrow keys and " +
    "press Enter: its program, its memory and its figures stand here.");
  view.quantities = await Promise.all(quantities.map(async (each) => {
    const read = await unpack(each.values);
    return { ...each, read, greatest: read.least + read.step * d3.max(read.values) };
  }));
  if (recorded) await readRecorded(view, recorded);
  await readView(view);
  addColouring(bar, view, legend);
  addStreams(bar, view);
  addPathButton(bar, view);
  addButtons(bar, view);
  view.onChoose = (at) => inspect(panel, view, at);
  view.onPoint = (at) => status.text(at ? describePe(view, at) : HINT);
  status.text(HINT);
}

const MOST_KEYS = 16;
const HINT = "Drag to move; click, then turn the wheel to zoom. Keys: arrows, Enter, + − 0.";

function describePe(view, [column, row]) {
  const { grid, role, quantity } = view, pe = row * grid.width + column;
  const said = [`PE ${grid.west + column}, ${grid.north + row}`];
  said.push(role[pe] < 0 ? "no program" : grid.roles[role[pe]].name);
  said.push(...[describePart(grid, [column, row])].filter(Boolean));
  if (quantity) {
    const value = Math.round(valueAt(quantity, grid, pe));
    said.push(`${quantity.title} ${asFigure(value, quantity.unit)}`);
  }
  return said.join(" · ");
}

/* Let one choose what the colours of PEs mean, and say so. */
function addColouring(bar, view, legend) {
  const label = bar.append("label").text("Colour ");
  const select = label.append("select").attr("id", "quantity");
  select.append("option").attr("value", "").text("roles");
  const whole = view.quantities.filter(({ name }) => !name.includes("."));
  const links = d3.group(view.quantities.filter(({ name }) => name.includes(".")),
    ({ name }) => name.split(".")[0]);
  for (const [group, members] of d3.group(whole, (each) => each.group)) {
    const options = select.append("optgroup").attr("label", group);
    for (const { name, title } of members) options.append("option").attr("value", name).text(title);
  }
  if (links.size) {
    const options = select.append("optgroup").attr("label", "links");
    for (const [name, [{ title }]] of links) {
      options.append("option").attr("value", name).text(title);
    }
  }
  const change = () => {
    const name = select.property("value");
    view.links = links.get(name) || null;
    view.quantity = whole.find((each) => each.name === name) || null;
    showLegend(legend, view);
    paint(view);
  };
  select.on("change", change);
  change();
}

function showLegend(legend, view) {
  legend.html("");
  const shown = view.quantity || (view.links && view.links[0]);
  if (!shown) {
    const roles = view.grid.roles.slice(0, MOST_KEYS), more = view.grid.roles.length - MOST_KEYS;
    addKeys(legend, roles.map(({ name, pes }, at) => ({
      name, cycles: pes, colour: roleFill(at),
    })));
    if (more > 0) legend.append("span").text(`and ${asNumber(more)} more roles`);
    return;
  }
  const greatest = view.links ? d3.max(view.links, (each) => each.greatest) : shown.greatest;
  if (view.links) view.links.forEach((each) => { each.greatest = greatest; });
  const ends = legend.append("div").attr("class", "ramp");
  ends.append("b").text("0");
  ends.append("i");
  ends.append("b").text(asFigure(Math.round(greatest), shown.unit));
  legend.append("span").text(shown.says + (shown.read.block > 1
    ? `; means of ${shown.read.block} × ${shown.read.block} PEs` : ""));
  if (view.links && view.busiest) legend.append("span").text(describeBusiest(view.busiest));
}

function addStreams(bar, view) {
  if (!view.streams.length) return;
  const group = bar.append("div").attr("class", "streams").attr("role", "group")
    .attr("aria-label", "streams");
  const chips = group.selectAll("button").data(view.streams).join("button").attr("type", "button")
    .attr("aria-pressed", "true").attr("title", (stream) => describeStream(view, stream));
  addStroke(chips, ({ at }) => at);
  chips.append("span").text((stream) => {
    const [first, ...more] = namesOf(view.grid, stream);
    return more.length ? `${first} and ${more.length} more` : first;
  });
  chips.on("click", function (_, { name }) {
    if (!view.hidden.delete(name)) view.hidden.add(name);
    d3.select(this).attr("aria-pressed", String(!view.hidden.has(name)));
    redraw(view);
  });
}

/* Return the number of a stream's colour and, where parts have names of their own, all of them. */
function describeStream({ grid }, stream) {
  const names = namesOf(grid, stream), says = `colour ${stream.number} of the fabric`;
  return names.length > 1 ? `${says}: ${names.join(", ")}` : says;
}

/* Let one hide the critical path, where there is one. */
function addPathButton(bar, view) {
  if (!view.lines || !view.lines.length) return;
  const button = bar.append("button").attr("type", "button").attr("class", "paths")
    .attr("aria-pressed", "true").text("critical path");
  button.on("click", () => {
    view.showsPath = !view.showsPath;
    button.attr("aria-pressed", String(view.showsPath));
    redraw(view);
  });
}

function addButtons(bar, view) {
  const buttons = [["−", "zoom out", () => scaleBy(view, 1 / 1.4)],
    ["+", "zoom in", () => scaleBy(view, 1.4)], ["all", "show all", () => fitAll(view)]];
  const group = bar.append("div").attr("class", "buttons");
  group.selectAll("button").data(buttons).join("button").attr("type", "button")
    .attr("aria-label", ([, says]) => says).text(([text]) => text)
    .on("click", (_, [, , act]) => act());
}
