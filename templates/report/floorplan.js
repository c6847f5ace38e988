/* The floorplan of a network: where its parts lie on their one fabric. */

const NAME_TALL = 19, NAME_LINES = 6;

const framesOf = (grid) => grid.frames || [];

/* Return the frame of the part that PE x, y lies in, if it lies in one. */
const frameAt = (grid, x, y) => framesOf(grid).find((each) =>
  x >= each.x && x < each.x + each.width && y >= each.y && y < each.y + each.height);

/* Return the part that a PE lies in, as it is called, and what its layer.yaml calls the PE. */
function describePart(grid, [column, row]) {
  const [x, y] = [grid.west + column, grid.north + row], frame = frameAt(grid, x, y);
  return frame ? `of ${frame.part}, PE ${x - frame.origin[0]}, ${y - frame.origin[1]} there` : "";
}

/* Outline the parts, and name those that are seen. */
function drawFrames(view) {
  const { ctx } = view, seen = framesOf(view.grid).map((frame) => boxOf(view, frame))
    .filter(({ west, north, east, south }) =>
      east > 0 && south > 0 && west < view.width && north < view.height);
  for (const box of seen) {
    ctx.strokeStyle = inkOf(view, box);
    ctx.lineWidth = box.part === view.framed ? 2.4 : 1.4;
    ctx.beginPath();
    ctx.roundRect(box.west, box.north, box.east - box.west, box.south - box.north, 3);
    ctx.stroke();
  }
  ctx.font = `600 12px ${cssColour("--sans")}`;
  const places = placeNames(view, seen);
  places.forEach((place) => drawLeader(view, place));
  places.forEach((place) => drawName(view, place));
}

const inkOf = (view, { part }) => cssColour(part === view.framed ? "--accent" : "--ink");

function boxOf({ grid, transform: { k, x, y } }, frame) {
  const west = x + k * (frame.x - grid.west), north = y + k * (frame.y - grid.north);
  return { part: frame.part, west, north, east: west + k * frame.width,
    south: north + k * frame.height };
}

/* Return where names stand: above their parts, as far as these are seen, in the first line that
   is free; one that has no room in any is left out. */
function placeNames(view, boxes) {
  const { ctx, width, height } = view, found = [], taken = roomsOfPorts(view);
  const within = (value, least, most) => Math.max(least, Math.min(most, value));
  for (const box of d3.sort(boxes, ({ west }) => west)) {
    const wide = ctx.measureText(box.part).width + 12, room = box.east - box.west;
    const left = wide <= room ? within(4, box.west, box.east - wide)
      : within((box.west + box.east - wide) / 2, 4, width - wide - 4);
    const first = within(box.north - NAME_TALL - 3, 3, height - NAME_TALL - 3);
    const up = d3.range(0, NAME_LINES, 0.5).map((line) => first - line * NAME_TALL);
    const down = d3.range(0.5, NAME_LINES, 0.5).map((line) => first + line * NAME_TALL);
    const top = [...up, ...down].find((at) => at >= 3 && !taken.some((other) =>
      left < other.left + other.wide + 2 && other.left < left + wide + 2 &&
      at < other.top + other.tall && other.top < at + NAME_TALL));
    if (top === undefined) continue;
    found.push({ box, left, top, wide, tall: NAME_TALL });
    taken.push(found.at(-1));
  }
  return found;
}

/* Return where the names of ports north of the grid stand, and their arrows. */
function roomsOfPorts({ ctx, ports, grid, transform: { k, x, y } }) {
  const tall = Math.min(34, k * 0.42) + 22;
  return k < PORT_NAMES_FROM ? [] : ports.filter(({ side }) => side === "N").flatMap((port) => {
    const wide = ctx.measureText(port.tensor).width + 12;
    return Array.from(port.xs, (column, at) => ({
      left: x + k * (column - grid.west + 0.5) - wide / 2, wide, tall,
      top: y + k * (port.ys[at] - grid.north + 1) - tall,
    }));
  });
}

/* Draw a line from a name to its part, where others are between them. */
function drawLeader(view, { box, left, top, wide }) {
  const { ctx } = view, x = (box.west + box.east) / 2;
  if (top + NAME_TALL + 4 >= box.north || x < left || x > left + wide) return;
  ctx.strokeStyle = inkOf(view, box);
  ctx.lineWidth = 0.8;
  ctx.beginPath();
  ctx.moveTo(x, top + NAME_TALL - 3);
  ctx.lineTo(x, box.north);
  ctx.stroke();
}

function drawName(view, { box, left, top, wide }) {
  const { ctx } = view;
  ctx.globalAlpha = 0.88;
  ctx.fillStyle = cssColour("--panel");
  ctx.beginPath();
  ctx.roundRect(left, top, wide, NAME_TALL - 2, 4);
  ctx.fill();
  ctx.globalAlpha = 1;
  ctx.fillStyle = inkOf(view, box);
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillText(box.part, left + 6, top + NAME_TALL / 2 - 0.5);
}

/* Show a part as large as it fits, with the cursor at its first PE. */
function goToPart(view, name) {
  const { grid, width, height } = view;
  const frame = framesOf(grid).find(({ part }) => part === name);
  const [column, row] = [frame.x - grid.west, frame.y - grid.north];
  const k = Math.min(0.86 * width / frame.width, (height - 3 * NAME_TALL) / frame.height, 120);
  view.framed = name;
  view.cursor = [column, row];
  moveTo(view, d3.zoomIdentity.translate(width / 2, height / 2 + NAME_TALL / 2).scale(k)
    .translate(-column - frame.width / 2, -row - frame.height / 2));
  view.onPoint(view.cursor);
  document.getElementById("grid").scrollIntoView();
  view.canvas.focus({ preventScroll: true });
}
