const covers = (permission, kind, name) => {
  const [word, pattern] = split(permission);
  if (word !== kind) return false;
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
};

function split(permission) {
  const colon = permission.indexOf(':');
  return [permission.slice(0, colon), permission.slice(colon + 1)];
}

/**
 * Whether the account may do something with this name: what the page offers. The node checks each
 * request by itself. Without users everybody may do everything.
 *
 * @param kind such as `admin`
 * @param name of a topic or group; empty: only a permission for all names will do
 */
export const may = (account, kind, name) => account.known && (account.user === null || account.may.some((each) => covers(each, kind, name)));

/** Whether the account may do this with some name. */
export const maySome = (account, kind) => account.known && (account.user === null || account.may.some((each) => split(each)[0] === kind));
