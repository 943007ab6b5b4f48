const JSON_TYPE = { 'content-type': 'application/json' };

/** The user that this page belongs to, if the cluster has users. */
export class Account {
  /**
   * @param address of api/session
   * @param onChange called after each change
   */
  constructor(address, onChange) {
    this.address = address;
    this.onChange = onChange;
    /** Whether the cluster has users, and this page belongs to none of them. */
    this.locked = false;
    this.user = null;
    this.may = [];
    this.refused = '';
    /** Whether the node has said who this page belongs to. */
    this.known = false;
    /** Counts when somebody began or ended to log in or out. */
    this.turns = 0;
  }

  /** Whether the user may see nothing. */
  blind() {
    return this.user !== null && !this.may.some((each) => /^(view|admin):/.test(each));
  }

  /** Asks who this page belongs to. */
  async look() {
    await this.ask('GET');
  }

  /** Gives true if a user has this token. */
  async enter(token) {
    await this.ask('POST', { token });
    return !this.locked;
  }

  async leave() {
    await this.ask('DELETE');
    this.known = false;
    this.user = null;
    this.may = [];
    this.locked = true;
    this.onChange();
  }

  async ask(method, body) {
    const changes = method !== 'GET';
    if (changes) this.turns++;
    const turn = this.turns;
    let answer;
    let said;
    try {
      answer = await fetch(this.address, { method, body: body && JSON.stringify(body), headers: body ? JSON_TYPE : {}, cache: 'no-store' });
      said = await answer.json();
    } catch (e) {
      // The node does not answer; the page says so anyway.
      if (body) this.refused = 'The node does not answer.';
      this.onChange();
      return;
    }
    // Meanwhile somebody logged in or out: the answer may be older than that.
    if (!changes && turn !== this.turns) return;
    if (changes) this.turns++;
    if (answer.ok) {
      this.locked = false;
      this.known = true;
      this.user = said.user ?? null;
      this.may = said.may ?? [];
      this.refused = '';
    } else if (answer.status === 401) {
      this.locked = true;
      this.known = false;
      this.user = null;
      this.refused = body ? said.message : '';
    } else if (body) {
      this.refused = said.message;
    }
    this.onChange();
  }
}
