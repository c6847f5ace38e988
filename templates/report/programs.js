/* Programs in NumPy: what workers did, sections of calls, memory from node to node. */

/* Add what workers did by their own clocks; return the section. */
function addShares({ workers, cycles }) {
  const section = addSection("time", "Time", `What workers did in ${asNumber(cycles)} cycles, by ` +
    "their own clocks, then what ran on the whole machine.");
  const told = [["elements", "elements", "lanes"], ["set_up", "set-up", "dispatch"],
    ["sums", "waiting for sums", "port"], ["control", "waiting for the control", "waiting"]];
  const parts = told.map(([key, name, cause]) => ({
    name, colour: causeFill(cause), cycles: Math.round(1000 * workers[key]) / 10,
  }));
  addShare(section.append("div").attr("class", "compared"), "workers, %", parts,
    `${asShare(workers.elements)} elements`);
  addKeys(section, parts);
  return section;
}

/* Add the graph beside the calls of sections, and what each procedure took by workers' clocks. */
function addSections(nodes, calls, { procedures, cycles }) {
  const section = addSection("sections", "Sections", "The graph, in the order in which it runs, " +
    "and the procedures that all workers run when the executive says so. Cycles of a call are by " +
    "the clocks of workers, the mean of all of them and of all calls.");
  addProcedures(section, procedures, cycles);
  const body = section.append("div").attr("class", "task-body");
  const list = body.append("ol").attr("class", "nodes").selectAll("li").data(nodes).join("li")
    .style("padding-left", ({ depth }) => `${depth * 1.4}rem`);
  list.append("b").text(({ id }) => `n${id}`);
  list.append("code").text(({ does }) => does);
  const took = ({ procedure }) => procedures[procedure]?.cycles ?? "";
  const rows = d3.groups(calls, (call) => call.section).flatMap(([, own]) => own.map((call, at) => [
    at ? "" : `${call.section}: ${asNumber(Math.round(d3.sum(own, took)))} cycles`, call.node,
    call.procedure, took(call), call.arguments,
  ]));
  addTable(body, ["section", "for", "procedure", "cycles", "arguments"], rows)
    .attr("class", "calls");
}

/* List procedures by the share of workers' cycles that went into them. */
function addProcedures(section, procedures, cycles) {
  const rows = d3.sort(Object.entries(procedures), ([, each]) => -each.calls * each.cycles);
  const table = addTable(section, ["procedure", "calls", "cycles of a call", "elements", "share"],
    rows.map(([name, each]) => [name, each.calls, each.cycles, each.elements ?? "", ""]))
    .attr("class", "procedures");
  const last = table.selectAll("tbody td:last-child").data(rows).attr("class", "cycles");
  const share = ([, each]) => each.calls * each.cycles / cycles;
  last.append("i").style("width", (row) => `${120 * share(row)}px`);
  last.append("span").text((row) => asShare(share(row)));
}

/* Draw which bytes are whose, from node to node: time to the right, addresses upwards. */
function addLives(lives, nodes) {
  const section = addSection("memory", "Memory", "Which bytes are whose, from the first node of " +
    "the graph to the last.");
  const last = d3.max(nodes, ({ id }) => id) + 1;
  for (const [space, own] of d3.group(lives, (life) => life.space)) {
    const width = 1180, left = 60, height = 190;
    const end = d3.max(own, (life) => life.address + life.bytes);
    const x = d3.scaleLinear([-1, last], [left, width - 12]);
    const y = d3.scaleLinear([0, end], [height - 24, 8]);
    section.append("h3").text(space === "workers" ? "a worker" : `the ${space}`);
    const svg = addChart(section, "lives")
      .attr("viewBox", `0 0 ${width} ${height}`)
      .attr("role", "img").attr("aria-label", `${own.length} entries in ${end} bytes of ${space}`);
    const groups = svg.selectAll("g.life").data(own).join("g").attr("class", "life");
    const from = (life) => x(Math.max(-1, life.first));
    const to = (life) => x(Math.min(last, life.last + 1));
    groups.append("rect").attr("x", from).attr("y", (life) => y(life.address + life.bytes))
      .attr("width", (life) => to(life) - from(life) - 1).attr("rx", 3)
      .attr("height", (life) => Math.max(1, y(life.address) - y(life.address + life.bytes) - 1))
      .style("fill", (_, at) => roleFill(at));
    groups.append("text").attr("x", (life) => from(life) + 7)
      .attr("y", (life) => y(life.address + life.bytes / 2) + 4).text(({ name, bytes }) =>
        (bytes * (height - 32) / end > 11 ? name : ""));
    groups.append("title").text(({ name, bytes, address }) =>
      `${name}: ${bytes} bytes from ${address} on`);
    const named = (id) => (id < 0 ? "start" : id < last ? `n${id}` : "end");
    svg.append("g").attr("transform", `translate(0,${height - 24})`)
      .call(d3.axisBottom(x).ticks(Math.min(12, last + 1)).tickFormat(named));
    svg.append("g").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(4));
  }
}
