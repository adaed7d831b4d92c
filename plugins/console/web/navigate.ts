import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { addressOf, BASE_PATH } from './base.ts'
import { texts } from './i18n/language.ts'

/** The view that is shown: its path below the base URL, and its query. Only `params` has repeated names. */
export interface View { path: string, query: Readonly<Record<string, string>>, params: URLSearchParams }

/** Returns the view that is shown, and a function that shows another one by its path below the base URL. */
export function useView () {
  const { url, path, query, route } = useLocation()
  const { searchParams: params } = new URL(url, location.origin)
  const view: View = { path: path.startsWith(BASE_PATH) ? path.slice(BASE_PATH.length) : '', query, params }
  return { ...view, go: (target: string, replace = false) => { route(addressOf(target), replace) } }
}

/**
 * Ignores links to the view that is shown, as browsers do. The router would add an entry to the history, so that a
 * double click on a link takes two steps back. Call it before the router listens.
 */
export function ignoreCurrentLinks (): void {
  window.addEventListener('click', (event) => {
    const { target, button, ctrlKey, metaKey, altKey, shiftKey } = event
    if (button !== 0 || ctrlKey || metaKey || altKey || shiftKey || !(target instanceof Element)) return
    const link = target.closest('a')
    if (link === null || link.target !== '' || link.download !== '' || link.hash !== '' || link.href !== location.href) return
    event.preventDefault()
    event.stopImmediatePropagation()
  })
}

/** True if the parts of a path can be decoded. The router throws otherwise. */
export function isDecodable (path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/** Sets the title of the tab. An undefined title changes nothing, because a page within this one may set its own. */
export function useTitle (title: string | undefined): void {
  const { appName } = texts().common
  useEffect(() => {
    if (title !== undefined) document.title = `${title} · ${appName}`
  }, [title, appName])
}
