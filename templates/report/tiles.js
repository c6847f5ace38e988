/* Which part of a result each tile gives. */

const MOST_PANELS = 24, LETTER = 6.8;

/* Draw where the results of tiles lie, in the two innermost dimensions of the result: a picture for
   each place in the others at which tiles begin. */
function addTiles(tiles, parts) {
  const outer = Math.max(0, tiles[0].least.length - 2);
  const panels = d3.groups(tiles, ({ least }) => least.slice(0, outer).join());
  const kinds = [...new Set(tiles.map(({ name }) => likeOf(parts, name)))];
  const section = addSection("tiles", "Tiles", "Which part of the result each tile gives, in its " +
    `two innermost dimensions; ${sayColours(kinds)}.` + (panels.length > MOST_PANELS
    ? ` Of ${panels.length} places in the others, the first ${MOST_PANELS}.` : ""));
  const ends = tiles[0].least.map((_, at) => d3.max(tiles, (tile) => endOf(tile, at)));
  const [height, width] = [ends.at(-2) || 1, ends.at(-1) || 1];
  const room = panels.length > 1 ? 300 : 640, cell = Math.min(56, room / Math.max(width, height));
  const holder = section.append("div").attr("class", "panels");
  for (const [, own] of panels.slice(0, MOST_PANELS)) {
    const panel = holder.append("figure");
    if (panels.length > 1) panel.append("figcaption").text(whereOf(own[0], outer));
    const svg = panel.append("svg").attr("width", width * cell + 2)
      .attr("height", height * cell + 2).attr("role", "img")
      .attr("aria-label", `${own.length} tiles of a result`);
    drawPanel(svg, own, { cell, parts, kinds });
  }
}

/* Say what colours of tiles mean, of which there may be fewer than kinds. */
const sayColours = ({ length }) => (length > ROLE_TINTS
  ? `tiles that compute alike have one colour, of ${ROLE_TINTS} for ${length} kinds`
  : "tiles of one colour compute alike");

const likeOf = (parts = {}, name) => (parts[name] ? parts[name].like : name);
const endOf = ({ least, steps, sizes }, at) => least[at] + steps[at] * (sizes[at] - 1) + 1;

/* Return the elements of a tile in its first dimensions, as NumPy writes slices. */
const whereOf = (tile, count) => `[${tile.least.slice(0, count).map((from, at) =>
  (tile.sizes[at] === 1 ? from : `${from}:${endOf(tile, at)}`)).join(", ")}]`;

function drawPanel(svg, tiles, { cell, parts, kinds }) {
  const place = (tile, at) => (at < 0 ? 0 : tile.least[at] * cell) + 1;
  const long = (tile, at) => (at < 0 ? 1 : endOf(tile, at) - tile.least[at]) * cell - 1;
  const across = tiles[0].least.length - 1, down = across - 1;
  const groups = svg.selectAll("g").data(tiles).join("g").attr("class", "tile")
    .attr("transform", (tile) => `translate(${place(tile, across)},${place(tile, down)})`);
  groups.append("rect").attr("width", (tile) => long(tile, across))
    .attr("height", (tile) => long(tile, down)).attr("rx", Math.min(4, cell / 4))
    .style("fill", ({ name }) => roleFill(kinds.indexOf(likeOf(parts, name))));
  groups.each(function (tile) {
    const group = d3.select(this), wide = long(tile, across) - 10, tall = long(tile, down);
    const found = parts[tile.name], fits = (text) => text.length * LETTER <= wide;
    const words = tile.name.split("_");
    const name = words.map((_, at) => words.slice(at).join("_")).find(fits);
    if (name && tall >= 16) group.append("text").attr("x", 5).attr("y", 14).text(name);
    const said = found && [`${asNumber(found.cycles.simd)} cycles`, asNumber(found.cycles.simd)]
      .find(fits);
    if (said && tall >= 34) {
      group.append("text").attr("class", "soft").attr("x", 5).attr("y", 30).text(said);
    }
    group.append("title").text(`${tile.name}: ${whereOf(tile, tile.least.length)}` +
      (found ? `, ${asNumber(found.cycles.simd)} cycles` : ""));
  });
}
