/** Draws the panel. `data.context` is what the plugin gave; `data` also holds what the client offers to plugins. */
export function renderPanel(target, data) {
  const { part, reader } = data.context;
  const text = document.createElement("p");
  // textContent, not innerHTML: whatever the values hold, they are never taken for markup.
  text.textContent = `${reader} is looking at part ${part}.`;
  target.replaceChildren(text);
}
