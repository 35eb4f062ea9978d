// What was typed is not lost by leaving the page.

/** Wire every form[data-unsaved]: the browser asks before the page is left with unsaved text. */
export function wireUnsaved(root) {
  for (const form of root.querySelectorAll("form[data-unsaved]")) {
    let typed = false;
    form.addEventListener("input", () => { typed = true; });
    form.addEventListener("submit", () => { typed = false; });
    window.addEventListener("beforeunload", (event) => {
      if (typed) event.preventDefault();
    });
  }
}
