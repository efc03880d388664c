export function renderDashboardItem(target, data) {
  target.textContent = `Hello, ${data.context.for}`;
}

export const renderAny = renderDashboardItem;
