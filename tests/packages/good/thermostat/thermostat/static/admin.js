export function renderPluginSettings(target, data) {
  target.textContent = `${data.context.rooms} rooms`;
}
