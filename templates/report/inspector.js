/* One PE: what it runs, holds and did. */

const SPENT = [
  "computing", "memory", "starting", "scalars", "datapath", "moving", "no_input", "no_space",
  "under_way", "blocked", "full_queue", "idle",
];

/* Show the PE at a column and row of a view in an element. */
async function inspect(panel, view, [column, row]) {
  const { grid } = view, pe = row * grid.width + column, role = grid.roles[view.role[pe]];
  const place = [grid.west + column, grid.north + row];
  panel.html("").attr("data-pe", place.join(","));
  const head = panel.append("header");
  head.append("h3").text(`PE ${place.join(", ")}`);
  head.append("span").attr("class", "role").text(role ? role.name : "no program")
    .style("background", role ? roleFill(view.role[pe]) : null);
  const part = describePart(grid, [column, row]);
  if (part) panel.append("p").attr("class", "hint").text(part);
  addFigures(panel, view, pe);
  if (role) await addMemory(panel, grid, role, pe);
  addRouter(panel, view, pe);
  if (view.events && role) addEvents(panel, view, pe);
  if (role) addProgram(panel, view.programs, role.name);
}

const addPart = (panel, title) => {
  const part = panel.append("div").attr("class", "part");
  part.append("h4").text(title);
  return part;
};

function addFigures(panel, view, pe) {
  const known = new Map(view.quantities.map((each) => [each.name, valueAt(each, view.grid, pe)]));
  const spent = SPENT.filter((name) => known.get(name) > 0).map((name) => ({
    cause: name, name: causeName(name), cycles: known.get(name), colour: causeFill(name),
  }));
  const part = addPart(panel, "Figures");
  if (spent.length) {
    addStack(part, spent, d3.sum(spent, ({ cycles }) => cycles));
    addKeys(part, spent);
  }
  const list = part.append("dl");
  for (const each of view.quantities.filter(({ name }) => !SPENT.includes(name))) {
    if (each.name.includes(".")) continue;
    list.append("dt").text(each.title);
    list.append("dd").attr("data-figure", each.name)
      .text((each.read.block > 1 ? "some " : "") +
        asFigure(Math.round(known.get(each.name)), each.unit));
  }
}

async function addMemory(panel, grid, role, pe) {
  const part = addPart(panel, `Memory: ${asNumber(role.data)} bytes of data, ` +
    `${asNumber(role.code)} of code`);
  const end = Math.max(role.data, 1), bar = part.append("div").attr("class", "memory");
  bar.selectAll("i").data(role.tensors).join("i")
    .style("left", ({ address }) => `${100 * address / end}%`)
    .style("width", ({ bytes }) => `${100 * bytes / end}%`)
    .style("background", (_, at) => streamFill(at))
    .attr("title", ({ name, address, bytes }) => `${name}: ${bytes} bytes from ${address} on`);
  const rows = await Promise.all(role.tensors.map(async (tensor) => [
    tensor.address, `${tensor.name}[${tensor.shape.join(", ")}]`, await partOf(tensor, grid, pe),
    `${tensor.type}, ${asNumber(tensor.bytes)}`,
  ]));
  addTable(part, ["at", "array", "holds", "type, bytes"], rows).attr("class", "tensors");
}

/* Return which part of its tensor a PE holds, as NumPy writes slices: W[16:24, 4:8]. */
async function partOf({ tensor, ends }, { width, height }, pe) {
  if (!ends) return tensor || "";
  const { values, shape } = await unpack(ends), slices = [];
  for (let at = 0; at < shape[0]; at += 2) {
    const [least, most] = [at, at + 1].map((k) => values[k * width * height + pe]);
    slices.push(least === most ? `${least}` : `${least}:${most + 1}`);
  }
  return `${tensor}[${slices.join(", ")}]`;
}

function addRouter(panel, view, pe) {
  const passing = view.streams.map((stream) => [stream, describeRoute(stream, pe)])
    .filter(([, says]) => says.length);
  if (!passing.length) return;
  const lines = addPart(panel, "Router").append("ul").attr("class", "routes").selectAll("li")
    .data(passing).join("li");
  addStroke(lines, ([stream]) => stream.at);
  lines.append("b").text(([stream]) => nameAt(view.grid, stream.name, placeOf(view.grid, pe)));
  lines.append("span").text(([, says]) => says.join("; "));
}

const placeOf = ({ width }, pe) => [pe % width, Math.floor(pe / width)];

const EVENT_KINDS = ["task", "vector", "stream", "stall"];
const EVENT_FILLS = { task: "busy", vector: "rounding", stream: "moving" };

/* Draw what a PE did over time: tasks, instructions, streams, stalls. */
function addEvents(panel, view, pe) {
  const { events, until } = view, part = addPart(panel, "Timeline");
  const own = barsOf(view).filter((bar) => bar.pe === pe);
  if (!own.length) {
    addOthers(part, view);
    return;
  }
  const kinds = EVENT_KINDS.filter((each) => own.some(({ kind }) => kind === each));
  drawTimeline(part, kinds, until, own.map((bar) => ({ ...bar, row: kinds.indexOf(bar.kind) })));
  addMissing(part, events);
}

/* Return events as bars: { pe, kind, begin, end, cause, colour, says }. */
function barsOf({ events, grid }) {
  const said = (at) => (at < 0 ? "" : events.names[at]);
  const named = (at) => nameAt(grid, said(events.name[at]), placeOf(grid, events.pe[at]));
  return d3.range(events.pe.length).map((at) => {
    const kind = EVENT_KINDS[events.kind[at]], begin = events.begin[at];
    const end = begin + events.duration[at], reason = said(events.cause[at]);
    const cause = reason && causeName(reason);
    return { pe: events.pe[at], kind, begin, end, cause,
      colour: causeFill(EVENT_FILLS[kind] || reason),
      says: [named(at), cause, `${begin} to ${end}`].filter(Boolean).join(" ") };
  });
}

/* Say of which cycles events are missing. */
function addMissing(part, { since, until }) {
  const says = [since && `What ended before cycle ${asNumber(since)} is left out.`,
    until !== undefined && `Of what begins after cycle ${asNumber(until)} some is missing.`];
  for (const text of says.filter(Boolean)) part.append("p").attr("class", "hint").text(text);
}

/* Draw bars { begin, end, row, colour, says } in rows; who clicks it may turn the wheel to zoom. */
function drawTimeline(part, rows, until, bars) {
  const tall = 20, left = 50, width = 420, right = width - 8, low = rows.length * tall;
  const time = d3.scaleLinear([0, until], [left, right]);
  const svg = addChart(part, "timeline").attr("tabindex", 0).attr("role", "img")
    .attr("viewBox", `0 0 ${width} ${low + 22}`).attr("aria-label", `${bars.length} events`);
  svg.append("clipPath").attr("id", "timeline-plot").append("rect").attr("x", left)
    .attr("width", right - left).attr("height", low);
  svg.selectAll("text.kind").data(rows).join("text").attr("class", "kind")
    .attr("y", (_, at) => at * tall + 14).text((row) => row);
  const shown = svg.append("g").attr("clip-path", "url(#timeline-plot)").selectAll("rect")
    .data(bars).join("rect").attr("class", "bar").attr("y", ({ row }) => row * tall + 3)
    .attr("height", tall - 6).style("fill", ({ colour }) => colour);
  shown.append("title").text(({ says }) => says);
  const axis = svg.append("g").attr("transform", `translate(0,${low})`);
  const show = (x) => {
    shown.attr("x", ({ begin }) => x(begin))
      .attr("width", ({ begin, end }) => Math.max(1, x(end) - x(begin)));
    axis.call(d3.axisBottom(x).ticks(5).tickSizeOuter(0));
  };
  const area = [[left, 0], [right, low]];
  svg.call(d3.zoom().extent(area).translateExtent(area).scaleExtent([1, Math.max(1, until / 40)])
    .filter((event) => event.type !== "wheel" || event.ctrlKey ||
      document.activeElement === svg.node())
    .on("zoom", ({ transform }) => show(transform.rescaleX(time))));
  show(time);
}

/* Say which PEs have a timeline, and lead to them. */
function addOthers(part, view) {
  const { events, grid } = view, known = [...new Set(events.pe)];
  part.append("p").attr("class", "hint").text(known.length
    ? "What this PE did when was not kept; it was of" : "No PE did anything.");
  part.append("div").attr("class", "others").selectAll("button").data(known).join("button")
    .attr("type", "button").text((pe) =>
      `PE ${grid.west + pe % grid.width}, ${grid.north + Math.floor(pe / grid.width)}`)
    .on("click", (_, pe) => choose(view, [pe % grid.width, Math.floor(pe / grid.width)]));
}

function addProgram(panel, every, role) {
  const programs = every.filter((program) => program.role === role);
  if (!programs.length) return;
  const part = addPart(panel, "Program");
  const holder = part.append("div").attr("class", "program");
  const options = programs.map(({ variant }) => [
    variant === "simd" ? "vector instructions" : variant, variant,
  ]);
  const choice = part.insert("div", ".program");
  addChoice(choice, "variant of the program", options, (variant) => {
    addCode(holder.html(""), programs.find((each) => each.variant === variant).lines);
  });
}
