"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];
let api;

function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function resolve(schema, depth = 0) {
  if (!schema || depth > 8) return {};
  if (schema.$ref) return resolve(api.components.schemas[schema.$ref.split("/").pop()], depth + 1);
  return schema;
}

function typeOf(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  const choices = schema.oneOf || schema.anyOf;
  if (choices) return choices.map(typeOf).join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.type === "array") return `list of ${typeOf(schema.items) || "anything"}`;
  const type = [].concat(schema.type || "anything").join(" or ");
  return schema.format ? `${type} (${schema.format})` : type;
}

function sample(schema, depth = 0) {
  const found = resolve(schema);
  if (found.default !== undefined) return found.default;
  if (found.enum) return found.enum[0];
  if (found.anyOf || found.oneOf) return sample((found.anyOf || found.oneOf)[0], depth + 1);
  const type = [].concat(found.type || "string")[0];
  if (type === "object") {
    const object = {};
    if (depth < 4) {
      for (const [name, member] of Object.entries(found.properties || {})) {
        if ((found.required || []).includes(name)) object[name] = sample(member, depth + 1);
      }
    }
    return object;
  }
  return { array: [], boolean: false, integer: 0, number: 0, null: null }[type] ?? "";
}

function schemaTable(schema) {
  const found = resolve(schema);
  const rows = Object.entries(found.properties || {}).map(([name, member]) => {
    const required = (found.required || []).includes(name);
    return make("tr", {},
      make("td", { className: required ? "required" : "" }, make("code", { textContent: name })),
      make("td", { textContent: typeOf(member) }),
      make("td", { textContent: member.description || "" }));
  });
  return rows.length ? make("table", {}, make("tbody", {}, ...rows)) : make("p", { textContent: typeOf(schema) });
}

function cookie(name) {
  const found = document.cookie.split("; ").find((part) => part.startsWith(`${name}=`));
  return found ? decodeURIComponent(found.slice(name.length + 1)) : "";
}

async function send(method, path, inputs, bodyText, result) {
  let address = path;
  const query = new URLSearchParams();
  for (const { parameter, input } of inputs) {
    if (parameter.in === "path") address = address.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    else if (input.value !== "") query.append(parameter.name, input.value);
  }
  if ([...query].length) address += `?${query}`;
  const headers = { Accept: "application/json" };
  const token = document.getElementById("token").value.trim();
  if (token) headers.Authorization = `Token ${token}`;
  const csrf = cookie("csrftoken");
  if (csrf) headers["X-CSRFToken"] = csrf;
  if (bodyText !== null) headers["Content-Type"] = "application/json";
  result.textContent = `${method.toUpperCase()} ${address} …`;
  try {
    const answer = await fetch(address, { method: method.toUpperCase(), headers, body: bodyText });
    const text = await answer.text();
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* no JSON: shown as it is */ }
    result.textContent = `${method.toUpperCase()} ${address}\n${answer.status} ${answer.statusText}\n\n${shown}`;
  } catch (error) {
    result.textContent = `The request failed: ${error.message}`;
  }
}

function tryIt(method, path, operation, parameters) {
  const inputs = [];
  const rows = parameters.map((parameter) => {
    const input = make("input", { name: parameter.name });
    inputs.push({ parameter, input });
    return make("tr", {},
      make("td", { className: parameter.required ? "required" : "" },
        make("label", {}, make("code", { textContent: parameter.name }))),
      make("td", { textContent: `${parameter.in}, ${typeOf(parameter.schema)}` }),
      make("td", {}, input),
      make("td", { textContent: parameter.description || "" }));
  });
  const json = operation.requestBody?.content["application/json"];
  const body = json && method !== "get"
    ? make("textarea", { value: JSON.stringify(sample(json.schema), null, 2), ariaLabel: "Body" }) : null;
  const result = make("pre", { hidden: true });
  const button = make("button", { type: "button", textContent: "Send" });
  button.addEventListener("click", () => {
    result.hidden = false;
    send(method, path, inputs, body ? body.value : null, result);
  });
  return [
    rows.length ? make("table", {}, make("tbody", {}, ...rows)) : null,
    json ? make("h4", { textContent: "Body" }) : null,
    json ? schemaTable(json.schema) : null,
    body, button, result,
  ];
}

function operationElement(method, path, operation, shared) {
  const inside = make("div", { className: "inside" });
  const element = make("details", { id: operation.operationId },
    make("summary", {},
      make("span", { className: `method ${method}`, textContent: method.toUpperCase() }),
      make("code", { textContent: path }),
      make("span", { textContent: operation.summary || "" }),
      make("span", { className: "access", textContent: operation["x-access"] || "" })),
    inside);
  element.dataset.words = `${path} ${operation.summary} ${operation.operationId}`.toLowerCase();
  element.addEventListener("toggle", () => {
    if (!element.open || inside.childElementCount) return;
    const description = (operation.description || "").split("\n\n");
    inside.append(...description.filter(Boolean).map((text) => make("p", { textContent: text })));
    const parameters = [...shared, ...(operation.parameters || [])];
    inside.append(...tryIt(method, path, operation, parameters).filter(Boolean), make("h4", { textContent: "Answers" }));
    for (const [status, answer] of Object.entries(operation.responses)) {
      const content = Object.values(answer.content || {})[0];
      inside.append(make("p", {}, make("strong", { textContent: `${status} ` }), answer.description));
      if (content && Number(status) < 300) inside.append(schemaTable(content.schema));
    }
  });
  return element;
}

function show() {
  document.getElementById("title").textContent = `${api.info.title} ${api.info.version}`;
  const operations = document.getElementById("operations");
  const tags = document.getElementById("tags");
  operations.replaceChildren();
  for (const { name } of api.tags) {
    const id = `tag-${name.replace(/\W+/g, "-").toLowerCase()}`;
    tags.append(make("a", { href: `#${id}`, textContent: name }));
    const section = make("section", {}, make("h2", { id, textContent: name }));
    for (const [path, item] of Object.entries(api.paths)) {
      for (const method of METHODS) {
        if (item[method]?.tags.includes(name)) {
          section.append(operationElement(method, path, item[method], item.parameters || []));
        }
      }
    }
    operations.append(section);
  }
}

document.getElementById("find").addEventListener("input", (event) => {
  const word = event.target.value.trim().toLowerCase();
  for (const element of document.querySelectorAll("details")) {
    element.hidden = !element.dataset.words.includes(word);
  }
  for (const section of document.querySelectorAll("section")) {
    section.hidden = !section.querySelector("details:not([hidden])");
  }
});

fetch("../schema/", { headers: { Accept: "application/json" } })
  .then((answer) => answer.json())
  .then((found) => { api = found; show(); })
  .catch((error) => { document.getElementById("status").textContent = `The document cannot be read: ${error.message}`; });
