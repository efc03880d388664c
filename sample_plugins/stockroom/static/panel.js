/** Lists the items of one location, read from the plugin's own routes. */
export async function renderPanel(target, data) {
  const { items, location } = data.context;
  const list = document.createElement("ul");
  for (const item of await all(items)) {
    if (String(item.location_id) === location) {
      const line = document.createElement("li");
      line.textContent = `${item.quantity} × part ${item.part_id}`;
      list.append(line);
    }
  }
  target.replaceChildren(list);
}

async function all(url) {
  const found = [];
  for (;;) {
    const response = await fetch(`${url}?offset=${found.length}`, { credentials: "same-origin" });
    if (!response.ok) {
      throw new Error(`${url} answered ${response.status}`);
    }
    const { count, results } = await response.json();
    found.push(...results);
    if (results.length === 0 || found.length >= count) {
      return found;
    }
  }
}
