/** Runs when the command was chosen in the spotlight search. */
export function executeAction({ context }) {
  window.alert(`Hello, ${context.to}!`);
}
