// Menus are <details>, the drawer is a :target: both work alone. Scripts add Escape, outside clicks and focus.

/** Wire every [data-menu] and the [data-drawer] of the page. */
export function wireMenus(root) {
  root.addEventListener("click", (event) => {
    for (const menu of root.querySelectorAll("details[data-menu][open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of root.querySelectorAll("details[data-menu][open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
    if (location.hash === "#sidebar") closeDrawer(root);
  });
  const opener = root.querySelector("[data-drawer-open]");
  opener?.addEventListener("click", () => {
    setTimeout(() => root.querySelector("[data-drawer] a")?.focus(), 0);
  });
}

function closeDrawer(root) {
  location.hash = "#content";
  root.querySelector("[data-drawer-open]")?.focus();
}
