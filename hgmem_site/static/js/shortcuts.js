// Keys: "/" search, "j" and "k" walk a list, "?" shows the keys. Never while somebody types.

/** Wire the keys of a page. Lists are [data-rows]; in each row the first link is the stop. */
export function wireShortcuts(root) {
  const help = root.querySelector("[data-shortcuts]");
  root.querySelector("[data-shortcuts-open]")?.addEventListener("click", () => help?.showModal());
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (help?.open) return;
    const act = actions(root, help)[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
}

function actions(root, help) {
  return {
    "/": () => root.querySelector('[data-shortcut="/"]')?.focus(),
    "?": () => help?.showModal(),
    j: () => move(root, 1),
    k: () => move(root, -1),
  };
}

/** Whether a key pressed there is text. */
export function isTyping(element) {
  if (element.tagName === "INPUT" && ["checkbox", "radio"].includes(element.type)) return false;
  return element.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(element.tagName);
}

function move(root, by) {
  const stops = [...root.querySelectorAll("[data-rows] [data-row-link]")];
  if (!stops.length) return;
  const here = stops.indexOf(document.activeElement);
  const next = here < 0 ? (by > 0 ? 0 : stops.length - 1) : Math.min(Math.max(here + by, 0), stops.length - 1);
  stops[next].focus();
  stops[next].scrollIntoView({ block: "nearest" });
}
