// Examples that are put where one writes.

/** Wire every [data-insert="selector"] button: its data-text goes to the cursor of that field. */
export function wireSnippets(root) {
  root.addEventListener("click", (event) => {
    const button = event.target.closest("[data-insert]");
    const field = button && root.querySelector(button.dataset.insert);
    if (!field) return;
    field.focus();
    field.setRangeText(button.dataset.text, field.selectionStart, field.selectionEnd, "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
