/** The folder of the bundle's files, below the path of the base URL. */
export const FILES_PATH = '/assets/console'

/** Below these prefixes an unknown address is an error and never a page. */
const NO_PAGES = /^\/(?:api|assets|netplay|ws)(?:\/|$)/

/** True if an address without a route may be a view of the console. Views have no dots, as `/favicon.ico` has. */
export function isView (path: string): boolean {
  return !NO_PAGES.test(path) && !path.slice(path.lastIndexOf('/')).includes('.')
}

/** True if the client of a request shows pages. Programs that accept everything get JSON. */
export const acceptsPages = (accept: string | undefined): boolean => accept?.includes('text/html') ?? false
