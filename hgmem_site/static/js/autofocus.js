// The shell is hidden until its theme is known, and a browser gives up on [autofocus] of what is hidden.

/** Put the focus where the page wants it as soon as the page is shown, unless somebody was faster. */
export function wireAutofocus(root) {
  const target = root.querySelector("[autofocus]");
  const html = root.documentElement;
  if (!target) return;
  const focus = () => {
    if (html.hasAttribute("x-cloak")) return false;
    if ([null, root.body].includes(root.activeElement)) target.focus();
    return true;
  };
  if (focus()) return;
  const watch = new MutationObserver(() => focus() && watch.disconnect());
  watch.observe(html, { attributeFilter: ["x-cloak"] });
}
