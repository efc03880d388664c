/** The function that tiles are drawn by when the feature's source names no other. */
export function renderDashboardItem(target) {
  const clock = document.createElement("time");
  target.replaceChildren(clock);
  const timer = setInterval(() => {
    // The client removes the tile without telling: stop when that happened.
    if (clock.isConnected) {
      clock.textContent = new Date().toLocaleTimeString();
    } else {
      clearInterval(timer);
    }
  }, 1000);
}

/** Named by a source of `dashboard.js:renderStaffItem`. */
export function renderStaffItem(target) {
  target.textContent = "Only staff see this tile.";
}
