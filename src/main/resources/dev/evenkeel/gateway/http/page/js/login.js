import { html, useState } from './lib.js';

/** Asks for the token of a user. */
export function Login({ account, onEnter }) {
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    const entered = await account.enter(token.trim());
    setBusy(false);
    setToken('');
    if (entered) onEnter();
  };
  return html`<form class="login" onSubmit=${submit}>
    <h2>This cluster has users</h2>
    <label for="token">Token of a user</label>
    <input id="token" type="password" autocomplete="current-password" spellcheck=${false} value=${token} aria-describedby="token-refused" onInput=${(event) => setToken(event.target.value)} />
    <button type="submit" disabled=${busy || token.trim() === ''}>Log in</button>
    <p id="token-refused" role="alert">${account.refused}</p>
    <p class="quiet">An operator makes one with <code>evenkeel user add</code>.</p>
  </form>`;
}

/** Who is logged in, and the way out. */
export function LoggedIn({ account, onLeave }) {
  return (
    account.user !== null &&
    html`<div class="account">
      <span><span class="unseen">logged in as </span>${account.user}</span>
      <button type="button" onClick=${onLeave}>Log out</button>
    </div>`
  );
}
