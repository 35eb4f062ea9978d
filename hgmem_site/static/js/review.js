// Keys of the review pages: [data-key] names the key of a link or of a question that opens. Nothing is
// decided by a key alone: it opens the question and puts the focus into it.
import { isTyping } from "./shortcuts.js";

const ROW_KEYS = { a: "#ask-approve", c: "#ask-comment", r: "#ask-reject" }; // no ids: the browser would move the focus there;

/** Wire the keys of the queue and of a proposal's page. */
export function wireReview(root) {
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (root.querySelector("dialog[open]")) return;
    const act = onPage(root, event.key) ?? onRow(root, event.key);
    if (!act) return;
    event.preventDefault();
    act();
  });
  openAsked(root);
  wireSame(root);
  wireAll(root);
  addEventListener("hashchange", () => openAsked(root));
}

function onPage(root, key) {
  const target = root.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (!target) return null;
  return target.tagName === "SUMMARY" ? () => ask(target.parentElement) : () => target.click();
}

/** In the list, the keys act on the row that has the focus. */
function onRow(root, key) {
  const link = root.activeElement?.closest("[data-rows] tr")?.querySelector("[data-row-link]");
  if (!link) return null;
  if (key === "x") {
    const choice = link.closest("tr").querySelector("[data-row-choice]");
    return choice && (() => choice.click());
  }
  if (key === "e" && link.dataset.rowEdit) return () => location.assign(link.dataset.rowEdit);
  return link.dataset.rowEdit && key in ROW_KEYS ? () => location.assign(link.href + ROW_KEYS[key]) : null;
}

function ask(question) {
  question.open = true;
  const first = question.querySelector("input:not([type=hidden]), select") ?? question.querySelector("[data-confirm]");
  first?.focus();
  question.scrollIntoView({ block: "nearest" });
}

function openAsked(root) {
  const [, id] = location.hash.split("#ask-");
  const question = id && root.getElementById(id);
  if (question instanceof HTMLDetailsElement) ask(question);
}

/** A path that is touched through several nodes is one choice. */
function wireSame(root) {
  root.addEventListener("change", ({ target }) => {
    if (!target.dataset.same) return;
    for (const other of root.querySelectorAll(`[data-same="${CSS.escape(target.dataset.same)}"]`)) {
      other.checked = target.checked;
    }
  });
}

/** "Tick all" of a node; again when all are ticked takes the ticks away. */
function wireAll(root) {
  for (const button of root.querySelectorAll("[data-all]")) {
    const boxes = [...button.closest("[data-all-of]").querySelectorAll("input[type=checkbox]")];
    button.hidden = false;
    button.addEventListener("click", () => {
      const wanted = !boxes.every((box) => box.checked);
      for (const box of boxes.filter((one) => one.checked !== wanted)) box.click();
    });
  }
}

wireReview(document);
