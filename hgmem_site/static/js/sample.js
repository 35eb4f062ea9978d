// Reviewing the weekly sample by keyboard. Every button works without it.

/** In [data-sample], the focused card hears 1 to 9 (mark a path) and y, n, u (the verdict). */
export function wireSample(root) {
  const sample = root.querySelector("[data-sample]");
  if (!sample) return;
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const card = document.activeElement.closest("[data-sample] > article");
    if (!card) return;
    const act = actionOf(card, event.key);
    if (act) {
      event.preventDefault();
      act.click();
    }
  });
  if (location.hash.startsWith("#answer-")) whenShown(() => focusOn(root, location.hash.slice(1)));
}

function focusOn(root, id) {
  root.getElementById(id)?.querySelector("[data-row-link]")?.focus();
}

/** Once the page is loaded and the browser has gone to the fragment (which takes the focus away), and shown. */
function whenShown(act) {
  if (document.readyState !== "complete" || document.documentElement.hasAttribute("x-cloak")) {
    setTimeout(whenShown, 50, act);
  } else {
    setTimeout(act, 0);
  }
}

function actionOf(card, key) {
  if (/^[1-9]$/.test(key)) return card.querySelectorAll("[data-mark]:enabled")[Number(key) - 1];
  return card.querySelector(`[data-verdict="${CSS.escape(key)}"]`);
}

function isTyping(element) {
  const types = ["checkbox", "radio", "submit"];
  if (element.tagName === "INPUT") return !types.includes(element.type);
  return element.isContentEditable || ["TEXTAREA", "SELECT"].includes(element.tagName);
}

wireSample(document);
