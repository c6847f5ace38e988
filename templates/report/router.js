/* What routers do: the streams of a grid, by colour, merged over the positions of switches. */

const SIDES = ["N", "E", "S", "W", "ramp"];
const OUTWARD = [[0, -0.5], [0.5, 0], [0, 0.5], [-0.5, 0], [0, 0]];

/* Return a promise of streams: { name, number, lane, to, from, out }.

   `to` has by side, for each PE, where what comes from there goes to, or is null; `from` and `out`
   are for each PE the sides that wavelets come from and go to, as bits. */
function readStreams(grid) {
  return Promise.all(grid.streams.map(async ({ name, number, lane, routes }, at) => {
    const count = grid.width * grid.height, to = SIDES.map(() => null);
    const from = new Uint8Array(count), out = new Uint8Array(count);
    for (const route of routes) {
      const side = SIDES.indexOf(route.side), { values } = await unpack(route.to);
      to[side] = to[side] || new Uint8Array(count);
      for (let pe = 0; pe < count; pe++) {
        if (!values[pe]) continue;
        to[side][pe] |= values[pe];
        from[pe] |= 1 << side;
        out[pe] |= values[pe];
      }
    }
    return { name, number, lane, at, to, from, out };
  }));
}

const sidesOf = (bits) => SIDES.filter((_, side) => bits & (1 << side));

/* Return what one router does with a stream, as "N → S, ramp". */
function describeRoute(stream, pe) {
  return stream.to.flatMap((bits, side) =>
    bits && bits[pe] ? [`${SIDES[side]} → ${sidesOf(bits[pe]).join(", ")}`] : []);
}
