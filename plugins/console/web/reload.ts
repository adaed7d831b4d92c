/** The scripts of the page that was loaded last because a script was missing. */
const KEY = 'svc.reloaded'
const entry = document.querySelector<HTMLScriptElement>('script[type=module]')?.src ?? ''

/**
 * Loads the page again, but once for each version of its scripts, because a broken one would do so for ever.
 *
 * @returns false if the page was loaded again before
 */
export function reloadOnce (): boolean {
  try {
    if (sessionStorage.getItem(KEY) === entry) return false
    sessionStorage.setItem(KEY, entry)
  } catch {
    // A browser that stores nothing shows the page with the button.
    return false
  }
  location.reload()
  return true
}
