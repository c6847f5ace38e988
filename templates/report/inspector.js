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
  addEvents(panel, view.events, place);
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
    name: causeName(name), cycles: known.get(name), colour: causeFill(name),
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
      .text(`${each.read.block > 1 ? "some " : ""}${asNumber(Math.round(known.get(each.name)))} ` +
        each.unit);
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
  lines.append("i").style("background", ([stream]) => streamFill(stream.at));
  lines.append("b").text(([stream]) => stream.name);
  lines.append("span").text(([, says]) => says.join("; "));
}

/* Draw what a PE did over time, if the run was recorded: tasks, instructions, streams, stalls. */
function addEvents(panel, events, [x, y]) {
  const own = events.filter((event) => event.x === x && event.y === y);
  if (!own.length) return;
  const kinds = [...new Set(own.map(({ kind }) => kind))], tall = 20, left = 74, width = 380;
  const time = d3.scaleLinear([0, d3.max(own, (e) => e.cycle + e.duration)], [left, width - 8]);
  const svg = addPart(panel, "Timeline").append("svg").attr("class", "timeline")
    .attr("viewBox", `0 0 ${width} ${kinds.length * tall + 22}`).attr("role", "img")
    .attr("aria-label", `${own.length} events of this PE`);
  svg.selectAll("text.kind").data(kinds).join("text").attr("class", "kind").attr("x", 0)
    .attr("y", (_, at) => at * tall + 14).text((kind) => kind);
  svg.selectAll("rect").data(own).join("rect").attr("x", ({ cycle }) => time(cycle))
    .attr("y", ({ kind }) => kinds.indexOf(kind) * tall + 3).attr("height", tall - 6)
    .attr("width", (e) => Math.max(1, time(e.cycle + e.duration) - time(e.cycle)))
    .style("fill", ({ kind, cause }) => causeFill(kind === "stall" ? cause : "busy"))
    .append("title").text((e) => `${e.name} ${e.cause ? `(${causeName(e.cause)}) ` : ""}` +
      `${e.cycle} to ${e.cycle + e.duration}`);
  svg.append("g").attr("transform", `translate(0,${kinds.length * tall})`)
    .call(d3.axisBottom(time).ticks(5).tickSizeOuter(0));
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
