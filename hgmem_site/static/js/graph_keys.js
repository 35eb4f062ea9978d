// A drawing by keyboard: arrows walk along the edges, Enter opens, + - f zoom, Escape leaves.

const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const ZOOM = { "+": "in", "=": "in", "-": "out", f: "fit", F: "fit" };
const NARROW = 0.25; // a neighbour further aside than this is not "in that direction"

/** Wire the keys of a drawing's canvas. */
export function wireKeys(drawing) {
  drawing.canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !act(drawing, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  });
}

function act(drawing, key) {
  const { nodes } = drawing.data;
  if (ARROWS[key] && nodes.length) drawing.select(next(drawing, ARROWS[key]));
  else if (key === "Home" && nodes.length) drawing.select(nodes[0].id);
  else if (key === "End" && nodes.length) drawing.select(nodes.at(-1).id);
  else if (key === "Enter" && drawing.selected) drawing.open(drawing.selected);
  else if (key === "Escape" && drawing.selected) drawing.clear();
  else if (ZOOM[key]) drawing.zoom(ZOOM[key]);
  else return false;
  return true;
}

/** The linked node that lies best in the direction; without one, any node that does; else the same one. */
function next(drawing, direction) {
  if (!drawing.selected) return drawing.data.nodes[0].id;
  const linked = drawing.network.getConnectedNodes(drawing.selected).map((id) => drawing.nodes.get(id));
  const found = best(drawing, linked, direction) ?? best(drawing, drawing.data.nodes, direction);
  return found?.id ?? drawing.selected;
}

function best(drawing, candidates, [dx, dy]) {
  const here = drawing.nodes.get(drawing.selected);
  let found = null;
  let shortest = Infinity;
  for (const node of candidates) {
    const [x, y] = [node.x - here.x, node.y - here.y];
    const distance = Math.hypot(x, y);
    const along = (x * dx + y * dy) / distance;
    if (!distance || along <= NARROW) continue;
    const cost = distance / along ** 2;
    if (cost < shortest) [found, shortest] = [node, cost];
  }
  return found;
}
