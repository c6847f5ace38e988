/* What is drawn in which colour, and what that is called. The colours are variables of page.css, of
   which some are of Okabe and Ito, which the colour-blind tell apart: what is drawn with them is
   dark where the system is. A canvas is drawn anew then. */

const STREAM_COLOURS = 8, ROLE_TINTS = 8;

/* Of each cause its name, and its colour where that has another name. */
const CAUSES = {
  lanes: ["computing in lanes", "computing"],
  computing: ["computing in lanes"],
  rounding: ["lanes left empty"],
  memory: ["memory: banks, strides"],
  streams: ["taken by streams", "datapath"],
  datapath: ["taken by streams"],
  moving: ["streams move elements"],
  start_up: ["start-up of instructions"],
  configuration: ["configuration"],
  dispatch: ["dispatch of tasks"],
  starting: ["dispatch, start-up, configuration"],
  loop: ["loops"],
  scalar: ["scalar operations"],
  address: ["addresses"],
  scalars: ["loops, scalars, addresses"],
  no_input: ["no input"],
  no_space: ["no space"],
  under_way: ["instructions under way"],
  blocked: ["blocked colour"],
  full_queue: ["full queue"],
  waiting: ["waiting"],
  idle: ["idle"],
  busy: ["a task runs", "computing"],
  port: ["what came before at the port"],
  links: ["links and ramps"],
  routers: ["in routers, waiting"],
  task: ["a task", "computing"],
  stream: ["elements before, in the stream", "moving"],
  started: ["start-up", "start_up"],
};

const isDark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;
const causeName = (cause) => (CAUSES[cause] || [cause.replaceAll("_", " ")])[0];

/* Colours of elements. */
const causeFill = (cause) =>
  `var(--${((CAUSES[cause] || [])[1] || cause).replaceAll("_", "-")}, #888888)`;
const streamFill = (at) => `var(--stream-${at % STREAM_COLOURS})`;
const roleFill = (at) => `var(--role-${at % ROLE_TINTS})`;

/* The same on a canvas. */
const streamColour = (at) => cssColour(`--stream-${at % STREAM_COLOURS}`);
const roleTint = (at) => cssColour(`--role-${at % ROLE_TINTS}`);

/* 256 colours from the least to the greatest number. */
const RAMP = d3.range(256).map((level) => d3.rgb(d3.interpolateCividis(level / 255)));

/* Values of the style by name, looked up once for each theme. */
const KNOWN_STYLE = new Map();

function cssColour(name) {
  if (!KNOWN_STYLE.has(name)) {
    const style = getComputedStyle(document.documentElement);
    KNOWN_STYLE.set(name, style.getPropertyValue(name).trim());
  }
  return KNOWN_STYLE.get(name);
}

function onTheme(redraw) {
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    KNOWN_STYLE.clear();
    redraw();
  });
}
