/** The path of the base URL, with a slash at its end. */
export const BASE_PATH = new URL(document.baseURI).pathname

/** Returns the address of a view or route, given its path below the base URL without a slash at its start. */
export const addressOf = (path: string): string => `${BASE_PATH}${path}`
