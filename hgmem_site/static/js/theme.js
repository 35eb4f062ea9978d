// Light, dark or the system's choice, kept by the shell's own theme state.

/** Wire every [data-theme-choice] button. */
export function wireTheme(root) {
  root.addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme-choice]");
    if (!button || !window.Alpine) return;
    window.Alpine.$data(document.documentElement).switchTheme(button.dataset.themeChoice);
    mark(root, button.dataset.themeChoice);
  });
  mark(root, JSON.parse(localStorage.getItem("_x_adminTheme") ?? localStorage.getItem("adminTheme") ?? '"auto"'));
}

function mark(root, choice) {
  for (const button of root.querySelectorAll("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice));
  }
}
