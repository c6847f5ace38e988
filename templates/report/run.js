/* What a run on a fabric did, whatever it is of: states and phases over time, cycles by cause, the
   critical path. */

const WIDE = 1180, LEFT = 230, RIGHT = 190, ROW = 19;

/* Add what is known of a run on a fabric. */
async function addRun(section, { bins, cycles, busiest, recorded, grid }) {
  if (!bins) return;
  const x = d3.scaleLinear([0, bins.until], [LEFT, WIDE - RIGHT]);
  await addBins(section, bins, x);
  if (recorded) addPhases(section, recorded, grid, x);
  else section.append("p").attr("class", "says").text("The run is too long to be recorded for " +
    "this page: so there are no phases, no critical path, and no timelines of PEs.");
  addSpent(section, cycles, grid);
  if (busiest) section.append("p").attr("class", "busiest").text(describeBusiest(busiest));
  if (!recorded) return;
  addCauses(section, "on-path", "What the critical path spent its cycles on", recorded.sums);
  addPath(section, recorded, grid);
}

/* Add what all PEs spent their cycles on, then those of each role, or part of a network. */
function addSpent(section, cycles, grid) {
  const groupOf = ([role]) => (framesOf(grid).length
    ? role.split(".").slice(0, -1).join(".") || "bridges" : role);
  const groups = d3.rollup(Object.entries(cycles), (own) => sumUp(own.map(([, each]) => each)),
    groupOf);
  const all = sumUp([...groups.values()]);
  addCauses(section, "spent", `What all PEs spent their cycles on: ${computing(all)}`, all);
  if (groups.size < 2) return;
  const box = section.append("div").attr("class", "by-role compared");
  for (const [name, own] of groups) {
    addShare(box, name, Object.entries(own).map(([cause, count]) => ({
      name: causeName(cause), cycles: count, colour: causeFill(cause),
    })), computing(own));
  }
}

const sumUp = (each) => Object.fromEntries(Object.keys(each[0] || {}).map((cause) =>
  [cause, d3.sum(each, (own) => own[cause])]));
const computing = (own) =>
  `${asShare((own.computing || 0) / (d3.sum(Object.values(own)) || 1))} compute`;

const BEHIND = { N: "north", E: "east", S: "south", W: "west" };

const describeBusiest = ({ pe, side, wavelets, stalls }) =>
  `The busiest link to a PE is that of PE ${pe.join(", ")} from the ${BEHIND[side]}: ` +
  `${counted(wavelets, "wavelets")}, and ` +
  (stalls ? `in ${counted(stalls, "cycles")} one waited at its end.` : "none waited at its end.");

/* Add cycles by cause, the most first. */
function addCauses(section, name, title, causes) {
  const parts = d3.sort(Object.entries(causes), ([, cycles]) => -cycles)
    .filter(([, cycles]) => cycles > 0).map(([cause, cycles]) => ({
      cause, name: causeName(cause), cycles, colour: causeFill(cause),
    }));
  if (!parts.length) return;
  const holder = section.append("div").attr("class", `causes ${name}`);
  holder.append("h3").text(title);
  addStack(holder, parts, d3.sum(parts, ({ cycles }) => cycles));
  addKeys(holder, parts);
}

/* Draw how many PEs are in which state, against cycles. */
async function addBins(section, bins, x) {
  const names = Object.keys(bins.states), height = 240, low = height - 24;
  const columns = await Promise.all(names.map((name) => unpack(bins.states[name])));
  const rows = d3.range(columns[0].values.length + 1).map((at) => Object.fromEntries(
    names.map((name, k) => [name, (columns[k].values[at] || 0) / bins.width])));
  const y = d3.scaleLinear([0, d3.max(rows, (row) => d3.sum(Object.values(row)))], [low, 8]);
  section.append("h3").text("PEs in each state, over time");
  const svg = addChart(section, "bins").attr("viewBox", `0 0 ${WIDE} ${height}`)
    .attr("role", "img").attr("aria-label", `PEs in the states ${names.join(", ")} over time`);
  const area = d3.area().curve(d3.curveStepAfter)
    .x((_, at) => x(Math.min(at * bins.width, bins.until)))
    .y0(([from]) => y(from)).y1(([, to]) => y(to));
  svg.selectAll("path").data(d3.stack().keys(names)(rows)).join("path")
    .style("fill", ({ key }) => causeFill(key)).attr("d", area)
    .append("title").text(({ key }) => causeName(key));
  svg.append("g").attr("transform", `translate(0,${low})`).call(d3.axisBottom(x).ticks(8));
  svg.append("g").attr("transform", `translate(${LEFT},0)`).call(d3.axisLeft(y).ticks(5));
  const used = names.filter((_, k) => columns[k].values.some(Boolean)).reverse();
  const keys = svg.append("g").selectAll("g").data(used).join("g").attr("class", "key")
    .attr("transform", (_, at) => `translate(${WIDE - RIGHT + 18},${8 + at * ROW})`);
  keys.append("rect").attr("width", 11).attr("height", 11).attr("rx", 3)
    .style("fill", causeFill);
  keys.append("text").attr("x", 18).attr("y", 10).text(causeName);
}

/* Draw what happened when, below the states: a bar from the first cycle of a task, on any PE, to
   the last one. Its dark part is as tall as the share of PEs with that task which run it. */
function addPhases(section, { phases, shorter }, grid, x) {
  if (!phases.length) return;
  const pes = new Map(grid.roles.map((role) => [role.name, role.pes]));
  const height = (phases.length + 1) * ROW + 4;
  section.append("h3").text("What happened when");
  const svg = addChart(section, "phases")
    .attr("viewBox", `0 0 ${WIDE} ${height}`).attr("role", "img")
    .attr("aria-label", phases.map((each) => describePhase(each)).join("; "));
  for (const [at, head] of [[WIDE - 100, "times"], [WIDE - 4, "cycles"]]) {
    svg.append("text").attr("class", "head").attr("x", at).attr("y", 13).text(head);
  }
  const groups = svg.selectAll("g").data(phases).join("g")
    .attr("class", ({ kind }) => `phase ${kind}`).attr("data-phase", ({ name }) => name)
    .attr("transform", (_, at) => `translate(0,${(at + 1) * ROW})`);
  groups.append("line").attr("x1", LEFT).attr("x2", WIDE).attr("y1", ROW).attr("y2", ROW);
  groups.append("text").attr("class", "name").attr("x", LEFT - 12).attr("y", 14)
    .text(({ name, kind }) => shorten(kind === "task" ? name : `${name} ${kind}`, 29));
  const wide = ({ begin, end }) => Math.max(1.5, x(end) - x(begin));
  const share = ({ roles, cycles, begin, end }) =>
    cycles / ((end - begin) * d3.sum(roles, (role) => pes.get(role)) || 1);
  const tall = (phase) => (phase.kind === "task" ? Math.max(1.5, share(phase) * (ROW - 6)) : 3);
  groups.append("rect").attr("class", "track").attr("x", ({ begin }) => x(begin)).attr("y", 3)
    .attr("height", ROW - 6).attr("width", wide);
  groups.append("rect").attr("class", "ran").attr("x", ({ begin }) => x(begin)).attr("width", wide)
    .attr("y", (phase) => ROW - 3 - tall(phase)).attr("height", tall);
  groups.append("text").attr("class", "count").attr("x", WIDE - 100).attr("y", 14)
    .text(({ count }) => asNumber(count));
  groups.append("text").attr("class", "count").attr("x", WIDE - 4).attr("y", 14)
    .text(({ kind, cycles }) => (kind === "task" ? asNumber(cycles) : ""));
  groups.append("title").text(describePhase);
  if (shorter) section.append("p").attr("class", "says")
    .text(`${asNumber(shorter)} more, each shorter than these.`);
}

const describePhase = ({ name, kind, roles, begin, end, count, cycles }) =>
  `${name}${kind === "task" ? "" : ` ${kind}`}: cycles ${begin} to ${end}, ` +
  (kind === "task" ? `${count} times, ${cycles} cycles of PEs: ${roles.join(", ")}`
    : `${count} wavelets`);

/* List the critical path, from the last output back to the first arrival. */
function addPath(section, { path, left_out: missing, line }, grid) {
  if (!path.length) return;
  section.append("h3").text("The critical path, from the last output back");
  const parts = path.filter(({ begin, end }) => end > begin);
  const nameThere = ({ x, y }, name) => nameAt(grid, name, [x - grid.west, y - grid.north]);
  addTable(section, ["cycles", "from", "to", "at", "why", "what"], parts.map((each) => [
    each.end - each.begin, each.begin, each.end, `PE ${each.x}, ${each.y}`, causeName(each.cause),
    [each.name, each.colour].filter(Boolean).map((name) => nameThere(each, name)).join(", on "),
  ])).attr("class", "path");
  if (missing) section.append("p").attr("class", "says")
    .text(`Before that are ${asNumber(missing)} cycles more.`);
  if (line.left_out) section.append("p").attr("class", "says").text("The line on the grid leaves " +
    `out ${counted(line.left_out, "journeys")} of wavelets before those that are drawn.`);
}
