/** An editor for templates: the client sets and asks for the code through the handlers. */
export function getEditor({ featureContext }) {
  const area = document.createElement("textarea");
  area.rows = 25;
  area.style.width = "100%";
  featureContext.ref.replaceChildren(area);
  featureContext.registerHandlers({
    setCode: (code) => {
      area.value = code;
    },
    getCode: () => area.value,
  });
}

/** A preview of templates: the client calls `updatePreview` when the code has changed. */
export function getPreview({ featureContext }) {
  const shown = document.createElement("pre");
  featureContext.ref.replaceChildren(shown);
  featureContext.registerHandlers({
    updatePreview: (code) => {
      shown.textContent = code;
    },
  });
}
