/** The client calls this to draw the page. `data.context` is what the plugin's `admin_integration` gave. */
export function renderPluginSettings(target, data) {
  const { plugin, reader } = data.context;
  const heading = document.createElement("h4");
  heading.textContent = plugin;
  const text = document.createElement("p");
  text.textContent = `Hello ${reader}, this page was drawn by the plugin itself.`;
  target.replaceChildren(heading, text);
}
