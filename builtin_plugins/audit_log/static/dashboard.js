/**
 * The dashboard tile of the audit log. `data.context` is what the plugin handed over: where to read, and how much.
 */
export async function renderDashboardItem(target, data) {
  const { url, limit } = data.context;
  target.replaceChildren(line("Loading …"));
  try {
    const page = await read(data.api, `${url}?limit=${limit}`);
    target.replaceChildren(page.results.length ? table(page.results) : line("Nothing has happened yet."));
  } catch (error) {
    target.replaceChildren(line(`The audit log cannot be read: ${error.message}`));
  }
}

async function read(api, url) {
  if (api) {
    return (await api.get(url)).data;
  }
  const response = await fetch(url, { credentials: "same-origin", headers: { Accept: "application/json" } });
  if (!response.ok) {
    throw new Error(`${url} answered ${response.status}`);
  }
  return response.json();
}

function table(entries) {
  const made = document.createElement("table");
  made.style.width = "100%";
  for (const entry of entries) {
    const row = made.insertRow();
    row.title = JSON.stringify(entry.data);
    // Text only, never markup: names and data come from plugins.
    row.insertCell().textContent = new Date(entry.time).toLocaleString();
    row.insertCell().textContent = entry.name;
    row.insertCell().textContent = entry.user === null ? "" : `#${entry.user}`;
  }
  return made;
}

function line(text) {
  const made = document.createElement("p");
  made.textContent = text;
  return made;
}
