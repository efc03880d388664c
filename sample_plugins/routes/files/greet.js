// A module, so that the page needs no inline script.
const response = await fetch("/plugin/sample-routes/hello/?name=browser");
document.getElementById("greeting").textContent = await response.text();

export {};
