// A copy button for what is shown once.

/** Wire every [data-copy="selector"] button: it copies the text of what the selector finds. */
export function wireCopy(root) {
  root.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const source = root.querySelector(button.dataset.copy);
    const text = source.value ?? source.textContent;
    try {
      await navigator.clipboard.writeText(text.trim());
      button.textContent = button.dataset.copied;
    } catch {
      const range = document.createRange();
      range.selectNodeContents(source);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
    }
  });
}
