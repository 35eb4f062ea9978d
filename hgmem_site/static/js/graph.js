// Drawings of paths and graphs: vis-network on a canvas, tied to the rows of the list that says the same.
// Texts are painted or set as text, never read as HTML.
import { wireKeys } from "./graph_keys.js";
import { paintNode, paintWires, readTheme, themed } from "./graph_paint.js";

const LEGIBLE = 0.7; // no smaller at first sight: better to pan than to guess
const still = matchMedia("(prefers-reduced-motion: reduce)");
const drawings = new Map();

/** One figure with its network, its selection and its rows. */
class Drawing {
  constructor(figure) {
    this.figure = figure;
    this.name = figure.dataset.graph;
    this.canvas = figure.querySelector("[data-graph-canvas]");
    this.said = figure.querySelector("[data-graph-said]");
    this.data = JSON.parse(document.getElementById(`graph-${this.name}-data`).textContent);
    const [w, h] = this.data.box ?? [0, 0];
    for (const node of this.data.nodes) Object.assign(node, { w, h });
    this.nodes = new Map(this.data.nodes.map((node) => [node.id, node]));
    this.selected = null;
    this.theme = readTheme(figure);
    this.build();
    this.wire();
  }

  build() {
    const nodes = this.data.nodes.map((node) =>
      this.data.flow ? { ...node, group: undefined, ctxRenderer: (one) => paintNode(this, node, one) } : node,
    );
    const holder = document.createElement("div");
    holder.className = "graph-holder";
    this.canvas.append(holder);
    const edges = this.data.edges.map((edge) => ({ ...edge }));
    this.network = new vis.Network(holder, { nodes, edges }, themed(this.data, this.theme));
    holder.querySelector(".vis-network").tabIndex = -1; // the keys are ours
    this.network.on("beforeDrawing", (context) => this.data.flow && paintWires(this, context));
    this.network.once("afterDrawing", () => (this.figure.dataset.drawn = String(this.data.nodes.length)));
    this.figure.classList.add("graph-drawn");
    this.begin();
  }

  wire() {
    const { canvas, figure, network } = this;
    Object.assign(canvas, { tabIndex: 0 });
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", `${canvas.dataset.label}. ${figure.dataset.keys}`);
    network.on("click", ({ nodes }) => (nodes.length ? this.select(nodes[0]) : this.clear()));
    network.on("doubleClick", ({ nodes }) => nodes.length && this.open(nodes[0]));
    network.on("hoverNode", ({ node, event }) => this.tip(node, event));
    network.on("blurNode", () => this.tip(null));
    network.on("dragStart", () => this.tip(null));
    const buttons = figure.querySelector("[data-graph-buttons]");
    buttons.hidden = false;
    buttons.addEventListener("click", ({ target }) => this.zoom(target.closest("[data-graph-do]")?.dataset.graphDo));
    // The wheel scrolls the page until the drawing has the focus.
    network.setOptions({ interaction: { zoomView: false } });
    canvas.addEventListener("focus", () => network.setOptions({ interaction: { zoomView: true } }));
    canvas.addEventListener("blur", () => network.setOptions({ interaction: { zoomView: false } }));
    canvas.addEventListener("pointerdown", () => canvas.focus({ preventScroll: true }));
    wireKeys(this);
    new MutationObserver(() => this.repaint()).observe(document.documentElement, { attributeFilter: ["class"] });
  }

  repaint() {
    this.theme = readTheme(this.figure);
    this.network.setOptions(themed(this.data, this.theme));
    this.network.redraw();
  }

  /** At first: all of it when that can be read, else the beginning at a size that can. */
  begin() {
    const [left, top, width, height] = this.data.bounds;
    const { clientWidth, clientHeight } = this.canvas;
    const scale = Math.min(clientWidth / width, clientHeight / height, 1);
    if (!this.data.flow || scale >= LEGIBLE || !this.data.nodes.length) return this.fit(false);
    const { x, y } = this.data.nodes[0];
    const half = { x: clientWidth / 2 / LEGIBLE, y: clientHeight / 2 / LEGIBLE };
    const position = this.data.flow === "down" ? { x: centred(x, left, width, half.x), y: top + half.y } : { x: left + half.x, y: centred(y, top, height, half.y) };
    this.network.moveTo({ position, scale: LEGIBLE, animation: false });
  }

  fit(animation = this.motion) {
    const [left, top, width, height] = this.data.bounds;
    const { clientWidth, clientHeight } = this.canvas;
    const scale = Math.min(clientWidth / width, clientHeight / height, 1);
    this.network.moveTo({ position: { x: left + width / 2, y: top + height / 2 }, scale, animation });
  }

  get motion() {
    return still.matches ? false : { duration: 180, easingFunction: "easeInOutQuad" };
  }

  zoom(how) {
    const scale = this.network.getScale();
    if (how === "fit") this.fit();
    if (how === "in") this.network.moveTo({ scale: Math.min(scale * 1.3, 4), animation: this.motion });
    if (how === "out") this.network.moveTo({ scale: Math.max(scale / 1.3, 0.02), animation: this.motion });
  }

  /** Select a node: it is marked here, its row is marked there, and it is said aloud. */
  select(id, { scroll = true } = {}) {
    if (!this.nodes.has(id)) return;
    this.clear();
    this.selected = id;
    this.figure.dataset.selected = id;
    this.network.selectNodes([id], false);
    this.show(id);
    this.said.textContent = `${this.figure.dataset.said} ${this.nodes.get(id).label}`;
    for (const row of this.rows(id)) {
      row.setAttribute("aria-current", "true");
      if (scroll) row.scrollIntoView({ block: "nearest" });
    }
  }

  clear() {
    for (const row of this.selected ? this.rows(this.selected) : []) row.removeAttribute("aria-current");
    this.selected = null;
    delete this.figure.dataset.selected;
    this.network.unselectAll();
  }

  rows(id) {
    return document.querySelectorAll(`[data-shows~="${CSS.escape(`${this.name}:${id}`)}"]`);
  }

  /** Move the view only when the node is out of sight. */
  show(id) {
    const node = this.nodes.get(id);
    const at = this.network.canvasToDOM({ x: node.x, y: node.y });
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const inside = at.x > 60 && at.y > 30 && at.x < width - 60 && at.y < height - 30;
    if (!inside) this.network.moveTo({ position: { x: node.x, y: node.y }, animation: this.motion });
    else this.network.redraw();
  }

  /** Follow the node's link; without one, go to its row. */
  open(id) {
    const href = this.nodes.get(id)?.href;
    if (href) return location.assign(href);
    const row = this.rows(id)[0];
    if (!row) return;
    for (const fold of row.querySelectorAll("details")) fold.open = true;
    const stop = row.querySelector("[data-shows-pick], a, button, summary");
    row.scrollIntoView({ block: "center" });
    stop?.focus();
  }

  tip(id, event) {
    this.hint?.remove();
    this.hint = null;
    if (!id) return;
    this.hint = document.createElement("div");
    this.hint.className = "graph-tip";
    this.hint.textContent = this.nodes.get(id).label;
    const box = this.canvas.getBoundingClientRect();
    this.hint.style.left = `${Math.min(event.clientX - box.left + 12, box.width - 180)}px`;
    this.hint.style.top = `${event.clientY - box.top + 14}px`;
    this.canvas.append(this.hint);
  }
}

/** The middle of what is there when it fits, else the node's own place. */
function centred(place, from, size, half) {
  return size <= 2 * half ? from + size / 2 : place;
}

/** A click on a row selects what it shows; other links and buttons inside it keep their own meaning. */
function pickRow(event) {
  const row = event.target.closest("[data-shows]");
  if (!row) return;
  const inner = event.target.closest("a, button, summary, input, textarea, select, label");
  if (inner && !inner.matches("[data-shows-pick]")) return;
  if (inner) event.preventDefault();
  for (const one of row.dataset.shows.split(" ").filter(Boolean)) {
    const [name, id] = one.split(":");
    drawings.get(name)?.select(id, { scroll: false });
  }
}

for (const figure of document.querySelectorAll("[data-graph]")) {
  const drawing = new Drawing(figure);
  drawings.set(drawing.name, drawing);
}
document.addEventListener("click", pickRow);
