// What is typed while a part of a form is on its way to be exchanged stays.

/** Wire every [data-keep] part: text typed since the request left goes into the field of the same name. */
export function wireKeep(root) {
  let sent = new Map();
  let typed = new Map();
  root.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.closest("[data-keep]")) sent = valuesOf(root);
  });
  root.addEventListener("htmx:beforeSwap", () => {
    typed = new Map([...valuesOf(root)].filter(([name, value]) => sent.has(name) && sent.get(name) !== value));
  });
  root.addEventListener("htmx:afterSwap", () => {
    for (const [name, value] of typed) {
      const field = root.querySelector(`[data-keep] [name="${CSS.escape(name)}"]`);
      if (field) field.value = value;
    }
    typed = new Map();
  });
}

function valuesOf(root) {
  const fields = root.querySelectorAll("[data-keep] :is(textarea, input:not([type=checkbox], [type=hidden]))");
  return new Map([...fields].map((field) => [field.name, field.value]));
}
