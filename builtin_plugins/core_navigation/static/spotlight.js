/**
 * Commands of the spotlight search. The client calls them with what it offers to plugins:
 * `context` is what the plugin handed over, `api` (where there is one) an HTTP client that is signed in.
 */

/** Open one of the host's own pages. */
export function openPage({ context }) {
  window.location.assign(context.url);
}

/** Have the host look for new plugin packages and load the active ones afresh, then show the page anew. */
export async function reloadPlugins({ context, api }) {
  await post(api, context.url, { collect_plugins: true, force_reload: true, full_reload: true });
  window.location.reload();
}

async function post(api, url, body) {
  if (api) {
    return api.post(url, body);
  }
  const response = await fetch(url, {
    method: "POST",
    credentials: "same-origin",
    headers: { "Content-Type": "application/json", "X-CSRFToken": cookie("csrftoken") },
    body: JSON.stringify(body),
  });
  if (!response.ok) {
    throw new Error(`${url} answered ${response.status}`);
  }
  return response;
}

function cookie(name) {
  const found = document.cookie.split("; ").find((part) => part.startsWith(`${name}=`));
  return found ? decodeURIComponent(found.slice(name.length + 1)) : "";
}
